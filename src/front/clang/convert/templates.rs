//! Templates, their parameters, explicit instantiations.

use super::declarations::Naming;
use super::records::friends;
use super::{Confusion, MISFIT, Reader, Reading};
use crate::syntax::{Item, ItemKind, TemplateParam, TemplateParamKind, TypeKind};

impl Reader<'_> {
    /// What starts with `template`.
    pub(super) fn template(&mut self) -> Reading<Vec<Item>> {
        let start = self.at;
        self.eat("extern");
        self.expect("template")?;
        if self.next() != "<" {
            return self.instantiation(start);
        }
        let mut params = self.template_params()?;
        while self.next() == "template" && self.text(self.at + 1) == "<" {
            self.at += 1;
            params.extend(self.template_params()?);
        }
        let mut items = match self.next() {
            "requires" => return Err(Confusion("constrained template")),
            "concept" => return Err(Confusion("concept")),
            "friend" => {
                self.at += 1;
                friends(self.declaration(Some(params))?)
            }
            "using" => vec![self.alias(params)?],
            _ => self.declaration(Some(params))?,
        };
        if let [only] = items.as_mut_slice() {
            only.span = self.span(start..self.at);
        }
        Ok(items)
    }

    /// `<typename T, int N = 4>`
    pub(super) fn template_params(&mut self) -> Reading<Vec<TemplateParam>> {
        self.deeper(|this| {
            this.expect("<")?;
            let mut params = Vec::new();
            while !this.at_angle() {
                params.push(this.template_param()?);
                if !this.at_angle() {
                    this.expect(",")?;
                }
            }
            this.close_angle()?;
            Ok(params)
        })
    }

    fn template_param(&mut self) -> Reading<TemplateParam> {
        let start = self.at;
        if self.next() == "template" {
            self.at += 1;
            self.template_params()?;
            self.at += 1;
            let name = self.param_name(start);
            let default = if self.eat("=") { Some(self.type_id()?) } else { None };
            return Ok(TemplateParam { name, kind: TemplateParamKind::Template(default), pack: false });
        }
        // `typename T::type value` is a value, whose type starts with `typename`.
        let is_type = matches!(self.next(), "typename" | "class")
            && (matches!(self.text(self.at + 1), "..." | "," | ">" | ">>" | "=")
                || matches!(self.text(self.at + 2), "," | ">" | ">>" | "="));
        if is_type {
            self.at += 1;
            let pack = self.eat("...");
            let name = self.param_name(start);
            let default = if self.eat("=") { Some(self.type_id()?) } else { None };
            return Ok(TemplateParam { name, kind: TemplateParamKind::Type(default), pack });
        }
        let base = self.specifiers()?.ty.ok_or(MISFIT)?;
        let pack = self.eat("...");
        let declared = self.declarator(base, Naming::Named)?;
        let default = if self.eat("=") { Some(self.template_default()?) } else { None };
        let name = declared.path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
        let kind = TemplateParamKind::Value(declared.ty, default);
        Ok(TemplateParam { name: name.unwrap_or_else(|| self.no_name(start)), kind, pack })
    }

    fn template_default(&mut self) -> Reading<crate::syntax::Expr> {
        let limit = self.output.tokens.len();
        let end = self.map.expression(self.at, limit).filter(|&end| matches!(self.text(end), "," | ">" | ">>"));
        let end = end.ok_or(MISFIT)?;
        let value = self.expression(self.at..end);
        self.at = end;
        Ok(value)
    }

    fn param_name(&mut self, start: usize) -> crate::syntax::Name {
        if self.is_identifier(self.at) {
            self.at += 1;
            self.name(self.at - 1)
        } else {
            self.no_name(start)
        }
    }

    /// `template __global__ void k<float>(float *);`
    fn instantiation(&mut self, start: usize) -> Reading<Vec<Item>> {
        if matches!(self.next(), "struct" | "class" | "union") {
            self.at += 1;
            let path = self.path(usize::MAX)?;
            self.expect(";")?;
            return Ok(vec![Item { kind: ItemKind::RecordInstantiation(path), span: self.span(start..self.at) }]);
        }
        let base = self.specifiers()?.ty.ok_or(MISFIT)?;
        let declared = self.declarator(base, Naming::Function)?;
        self.expect(";")?;
        match (declared.path, declared.ty.kind) {
            (Some(path), TypeKind::Function(_, params)) => {
                let kind = ItemKind::ExplicitInstantiation { path, params };
                Ok(vec![Item { kind, span: self.span(start..self.at) }])
            }
            _ => Err(Confusion("instantiation that is not understood")),
        }
    }
}
