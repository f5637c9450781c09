use raceproof::front::tree_sitter::parse;
use raceproof::preprocess::Options;
use raceproof::source::*;
use std::path::PathBuf;
fn main() {
    let mut dump = false;
    let mut inc = vec![];
    let mut files = 0; let mut bad = 0; let mut kernels = 0; let mut badk = 0;
    let t0 = std::time::Instant::now();
    let mut defines = vec![];
    for arg in std::env::args().skip(1) {
        if arg == "--dump" { dump = true; continue; }
        if let Some(d) = arg.strip_prefix("-I") { inc.push(PathBuf::from(d)); continue; }
        if let Some(d) = arg.strip_prefix("-D") { let (a,b) = d.split_once('=').unwrap_or((d,"1")); defines.push((a.to_string(),b.to_string())); continue; }
        let path = PathBuf::from(&arg);
        let language = raceproof::source::discover::language_of(&path).unwrap_or(Language::Cuda);
        let text = raceproof::preprocess::decode(std::fs::read(&path).unwrap());
        let mut sources = SourceMap::new();
        let main = sources.add_file(&path, text);
        let mut options = Options::new(language);
        options.include_dirs = inc.clone();
        options.defines = defines.clone();
        let t = std::time::Instant::now();
        let answer = parse(sources, main, &options);
        let el = t.elapsed();
        files += 1;
        if dump { println!("{}", raceproof::syntax::print(&answer.unit)); println!("{:?} {:?}", answer.parse, el); for d in &answer.diagnostics { let p = answer.unit.sources.start_position(d.primary.span); println!("{}:{}: {}", p.line, p.column, d.message); } continue; }
        let main_name = path.clone();
        let mut out = vec![];
        walk(&answer.unit.items, &mut |f: &raceproof::syntax::Function, span| {
            if !f.qualifiers.iter().any(|q| matches!(q, raceproof::syntax::Qualifier::Kernel | raceproof::syntax::Qualifier::Device)) || f.body.is_none() { return; }
            kernels += 1;
            let s = format!("{:?}", f);
            if let Some(i) = s.find("Unsupported(") { badk += 1; let p = answer.unit.sources.start_position(span); let r: String = s[i..].chars().take(60).collect(); let _=p; 
              let st = s[i..].find("start: ").map(|j| &s[i+j+7..i+j+20]).unwrap_or("");
              let off: usize = st.split(|c:char| !c.is_ascii_digit()).next().unwrap().parse().unwrap_or(0);
              let line = answer.unit.sources.file(main).lines.position(&answer.unit.sources.file(main).text, off).line;
              out.push(format!("  {} {}~{}: {}", f.path.segments.last().unwrap().name.text, p.line, line, r)); }
        });
        if answer.parse != raceproof::front::tree_sitter::ParseState::Ok || !out.is_empty() {
            bad += 1;
            println!("{} {:?} ({el:?})", main_name.display(), answer.parse);
            for d in answer.diagnostics.iter().take(6) { let p = answer.unit.sources.start_position(d.primary.span); println!("    {}:{}: {}", p.line, p.column, d.message); }
            for o in out { println!("{o}"); }
        }
    }
    println!("files {files} bad {bad} functions {kernels} bad functions {badk} in {:?}", t0.elapsed());
}
fn walk(items: &[raceproof::syntax::Item], f: &mut dyn FnMut(&raceproof::syntax::Function, Span)) {
    use raceproof::syntax::ItemKind::*;
    for i in items { match &i.kind { Function(x) => f(x, i.span), Namespace { items, .. } => walk(items, f), Record(r) => walk(r.members.as_deref().unwrap_or(&[]), f), _ => {} } }
}
