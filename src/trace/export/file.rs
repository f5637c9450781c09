//! A table as a file: under another name until all tables are whole.

use super::tables::{Column, Values};
use super::{ExportError, SCHEMA, SCHEMA_KEY};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// A table of which some rows have been written.
pub(super) struct TableFile {
    writer: SerializedFileWriter<std::fs::File>,
    file: NamedTempFile,
    path: PathBuf,
    rows: u64,
}

impl TableFile {
    /// A table without rows in a directory, with columns like these. Its rows will come sorted by the first so many columns.
    pub(super) fn new(
        directory: &Path,
        name: &str,
        columns: &[Column],
        sorted_by: i32,
    ) -> Result<TableFile, ExportError> {
        let path = directory.join(format!("{name}.parquet"));
        let failed = |reason: String| ExportError::Write { path: path.clone(), reason };
        let mut named = tempfile::Builder::new();
        named.prefix(".raceproof-");
        // As any other program would make it: who may read it is for the user's mask to say.
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = named.tempfile_in(directory).map_err(|error| failed(error.to_string()))?;
        let out = file.reopen().map_err(|error| failed(error.to_string()))?;
        let schema = parse_message_type(&schema(name, columns)).map_err(|error| failed(error.to_string()))?;
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties(sorted_by)))
            .map_err(|error| failed(error.to_string()))?;
        Ok(TableFile { writer, file, path, rows: 0 })
    }

    /// Adds rows as a row group.
    pub(super) fn group(&mut self, columns: Vec<Column>) -> Result<(), ExportError> {
        let rows = columns.first().map_or(0, Column::rows);
        if rows > 0 {
            self.write(columns).map_err(|error| self.failed(&error))?;
            self.rows += rows as u64;
        }
        Ok(())
    }

    /// Puts it where it shall be; gives its path and its rows.
    pub(super) fn keep(self) -> Result<(PathBuf, u64), ExportError> {
        let TableFile { writer, file, path, rows } = self;
        let failed = |reason: String| ExportError::Write { path: path.clone(), reason };
        writer.close().map_err(|error| failed(error.to_string()))?;
        file.as_file().sync_all().map_err(|error| failed(error.to_string()))?;
        file.persist(&path).map_err(|error| failed(error.to_string()))?;
        Ok((path, rows))
    }

    fn failed(&self, error: &ParquetError) -> ExportError {
        ExportError::Write { path: self.path.clone(), reason: error.to_string() }
    }

    fn write(&mut self, columns: Vec<Column>) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            let Some(mut to) = group.next_column()? else { break };
            let present = column.present.as_deref();
            match &column.values {
                Values::Small(values) => write::<Int32Type>(&mut to, values, present)?,
                Values::Large(values) | Values::Signed(values) => write::<Int64Type>(&mut to, values, present)?,
                Values::Text(values) => write::<ByteArrayType>(&mut to, values, present)?,
            }
            to.close()?;
        }
        group.close().map(drop)
    }
}

impl Column {
    fn rows(&self) -> usize {
        match (&self.present, &self.values) {
            (Some(present), _) => present.len(),
            (None, Values::Small(values)) => values.len(),
            (None, Values::Large(values) | Values::Signed(values)) => values.len(),
            (None, Values::Text(values)) => values.len(),
        }
    }
}

fn write<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    to.typed::<T>().write_batch(values, present, None).map(drop)
}

fn properties(sorted_by: i32) -> WriterProperties {
    let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
    let version = KeyValue::new(SCHEMA_KEY.to_owned(), SCHEMA.to_owned());
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![version]))
        .set_sorting_columns(Some((0..sorted_by).map(sorted).collect()))
        .build()
}

/// A schema in the language of Parquet.
fn schema(name: &str, columns: &[Column]) -> String {
    let column = |column: &Column| {
        let repetition = if column.present.is_some() { "OPTIONAL" } else { "REQUIRED" };
        let (physical, logical) = match column.values {
            Values::Small(_) => ("INT32", " (INTEGER(32,false))"),
            Values::Large(_) => ("INT64", " (INTEGER(64,false))"),
            Values::Signed(_) => ("INT64", ""),
            Values::Text(_) => ("BYTE_ARRAY", " (UTF8)"),
        };
        format!("{repetition} {physical} {}{logical};", column.name)
    };
    format!("message {name} {{ {} }}", columns.iter().map(column).collect::<Vec<_>>().join(" "))
}
