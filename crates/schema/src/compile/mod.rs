//! From a document to nodes: every schema in it is read and its keywords are held to what they may
//! say.

mod loops;
mod words;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::check::{BYTES_A_STEP, told};
use crate::document::{Document, Part, below};
use crate::draft::Draft;
use crate::equal::size;
use crate::keyword::{Bound, Contains, Counted, Demand, Fields, Keyword, Limit, Node};
use crate::pattern::Pattern;
use crate::{Schema, SchemaError};

/// The keywords that share the properties of an object among them.
const FIELDS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];

/// Compiles a schema. What nothing leads to has to be written as a schema, too, but need not lead
/// anywhere.
pub(crate) fn compile(schema: &Value) -> Result<Schema, SchemaError> {
    let document = Document::read(schema)?;
    let mut compiler =
        Compiler { document, patterns: Patterns::default(), due: vec![0], leads: true };
    let mut nodes: Vec<Option<Node>> = Vec::new();
    while let Some(index) = compiler.next(&nodes) {
        // References may lead to schemas in places where none are looked for.
        nodes.resize_with(compiler.document.parts.len(), || None);
        let part = compiler.document.parts[index].clone();
        nodes[index] = Some(compiler.node(&part)?);
    }
    compiler.leads = false;
    for (index, _) in nodes.iter().enumerate().filter(|(_, node)| node.is_none()) {
        let part = compiler.document.parts[index].clone();
        compiler.node(&part)?;
    }
    let nodes: Vec<Node> = nodes.into_iter().map(Option::unwrap_or_default).collect();
    loops::refuse(&nodes, &compiler.document.parts)?;
    Ok(Schema {
        remembers: nodes.iter().any(|node| node.keywords.iter().any(Keyword::asks_for_the_rest)),
        nodes,
        patterns: compiler.patterns.compile()?,
        dynamic_anchors: compiler.document.resources.into_iter().map(|it| it.dynamic).collect(),
    })
}

struct Compiler<'d> {
    document: Document<'d>,
    patterns: Patterns,
    /// Schemas that what was read leads to, some of them more than once.
    due: Vec<usize>,
    /// What is read now leads somewhere, or is only held to what may be said.
    leads: bool,
}

/// Each pattern once, with the first place that has it.
#[derive(Default)]
struct Patterns {
    texts: Vec<String>,
    places: Vec<String>,
    by_text: HashMap<String, usize>,
}

impl Patterns {
    fn add(&mut self, text: &str, place: &str) -> usize {
        *self.by_text.entry(text.to_owned()).or_insert_with(|| {
            self.places.push(place.to_owned());
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        })
    }

    fn compile(self) -> Result<Vec<Pattern>, SchemaError> {
        Pattern::all(self.texts).map_err(|(index, why)| SchemaError::new(&self.places[index], why))
    }
}

impl<'d> Compiler<'d> {
    /// A schema that something leads to, or may while a value is checked, and that is no node yet.
    fn next(&mut self, nodes: &[Option<Node>]) -> Option<usize> {
        while let Some(index) = self.due.pop().or_else(|| self.document.taken_over.pop()) {
            if nodes.get(index).is_none_or(Option::is_none) {
                return Some(index);
            }
        }
        None
    }

    fn node(&mut self, part: &Part<'d>) -> Result<Node, SchemaError> {
        let mut node = Node { resource: part.resource, keywords: Vec::new(), weight: 1 };
        let draft = self.document.draft(part);
        match part.value {
            Value::Object(keywords) => {
                // What stands beside a reference of old is read, and does not count.
                let (leads, only_reference) = (self.leads, draft.is_reference(part.value));
                let mut last = Vec::new();
                for (keyword, says) in keywords {
                    let read = Read { draft, keywords, keyword, says, part };
                    words::check(&read)?;
                    let counts = !only_reference || keyword == "$ref";
                    self.leads = leads && counts;
                    let Some(keyword) = self.keyword(&read)?.filter(|_| counts) else { continue };
                    node.weight += keyword.weight();
                    let asks_last = keyword.asks_for_the_rest();
                    if asks_last { &mut last } else { &mut node.keywords }.push(keyword);
                }
                node.keywords.append(&mut last);
                self.leads = leads;
            }
            Value::Bool(false) => node.keywords.push(Keyword::Never),
            _ => {}
        }
        Ok(node)
    }

    /// What one keyword demands, if anything by itself.
    fn keyword(&mut self, read: &Read<'_>) -> Result<Option<Keyword>, SchemaError> {
        use Draft::{Of2019, Of2020, Seven, Six};
        let draft = read.draft;
        let count = |counted, bound| read.count().map(|it| Keyword::Count(counted, bound, it));
        let limit = |limit| read.limit(limit);
        Ok(Some(match read.keyword {
            "type" => Keyword::Types(read.types()?),
            "enum" => Keyword::Enum(read.list()?.clone()),
            "const" if draft >= Six => Keyword::Const(read.says.clone()),
            "minimum" => limit(Limit::AtLeast)?,
            "maximum" => limit(Limit::AtMost)?,
            "exclusiveMinimum" if draft >= Six => limit(Limit::Above)?,
            "exclusiveMaximum" if draft >= Six => limit(Limit::Below)?,
            "multipleOf" => Keyword::MultipleOf(read.factor()?),
            "minLength" => count(Counted::Chars, Bound::Min)?,
            "maxLength" => count(Counted::Chars, Bound::Max)?,
            "minItems" => count(Counted::Items, Bound::Min)?,
            "maxItems" => count(Counted::Items, Bound::Max)?,
            "minProperties" => count(Counted::Fields, Bound::Min)?,
            "maxProperties" => count(Counted::Fields, Bound::Max)?,
            "pattern" => Keyword::Pattern(self.pattern(read.text()?, &read.place())),
            "uniqueItems" => return Ok(read.flag()?.then_some(Keyword::UniqueItems)),
            "required" => Keyword::Required(read.names()?),
            "properties" | "patternProperties" | "additionalProperties" => {
                let mut keywords = read.keywords.keys();
                let is_first = keywords
                    .find(|it| FIELDS.contains(&it.as_str()))
                    .is_some_and(|first| first == read.keyword);
                return if is_first { self.fields(read).map(Some) } else { Ok(None) };
            }
            "propertyNames" if draft >= Six => Keyword::PropertyNames(self.one(read)?),
            "prefixItems" if draft >= Of2020 => Keyword::PrefixItems(self.several(read)?),
            "items" if read.says.is_array() => Keyword::PrefixItems(self.several(read)?),
            "items" => Keyword::Items { after: read.prefix(), node: self.one(read)? },
            "additionalItems" => {
                let Some(Value::Array(items)) = read.keywords.get("items") else { return Ok(None) };
                Keyword::Items { after: items.len(), node: self.one(read)? }
            }
            "contains" if draft >= Six => Keyword::Contains(Box::new(self.contains(read)?)),
            "dependentRequired" | "dependentSchemas" if draft < Of2019 => return Ok(None),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                Keyword::Dependent(read.pairs(|name, says| {
                    let names = says.says.is_array() || read.keyword == "dependentRequired";
                    let demand = match names {
                        true => Demand::Names(says.names()?),
                        false => Demand::Schema(self.one(says)?),
                    };
                    Ok((name.to_owned(), demand))
                })?)
            }
            "allOf" => Keyword::AllOf(self.several(read)?),
            "anyOf" => Keyword::AnyOf(self.several(read)?),
            "oneOf" => Keyword::OneOf(self.several(read)?),
            "not" => Keyword::Not(self.one(read)?, told(read.says)),
            "if" if draft >= Seven => Keyword::If {
                test: self.one(read)?,
                then: self.sibling(read, "then")?,
                otherwise: self.sibling(read, "else")?,
            },
            "$ref" => Keyword::Reference(self.reference(read, read.text()?)?.0),
            "$dynamicRef" if draft >= Of2020 => match self.reference(read, read.text()?)? {
                (node, Some(anchor)) => Keyword::DynamicReference(node, anchor),
                (node, None) => Keyword::Reference(node),
            },
            "$recursiveRef" if draft == Of2019 => {
                if read.text()? != "#" {
                    return Err(read.wrong("is no reference that is known here but `#`"));
                }
                let node = self.reference(read, "#")?.0;
                match self.document.is_recursive(read.part.resource) {
                    true => Keyword::DynamicReference(node, String::new()),
                    false => Keyword::Reference(node),
                }
            }
            "unevaluatedItems" if draft >= Of2019 => Keyword::UnevaluatedItems(self.one(read)?),
            "unevaluatedProperties" if draft >= Of2019 => {
                Keyword::UnevaluatedProperties(self.one(read)?)
            }
            _ => return Ok(None),
        }))
    }

    /// What three keywords demand together.
    fn fields(&mut self, first: &Read<'_>) -> Result<Keyword, SchemaError> {
        let [named, patterns, others] = FIELDS.map(|keyword| {
            first.keywords.get(keyword).map(|says| Read { keyword, says, ..*first })
        });
        let mut fields = Fields::default();
        if let Some(read) = named {
            let pairs = read.pairs(|name, says| Ok((name.to_owned(), self.one(says)?)))?;
            fields.named = pairs.into_iter().collect();
        }
        if let Some(read) = patterns {
            fields.patterns = read.pairs(|name, says| {
                let pattern = self.pattern(name, &says.place());
                Ok((pattern, self.one(says)?))
            })?;
        }
        fields.others = others.map(|read| self.one(&read)).transpose()?;
        Ok(Keyword::Fields(Box::new(fields)))
    }

    fn contains(&mut self, read: &Read<'_>) -> Result<Contains, SchemaError> {
        let bound = |keyword: &'static str| {
            let says = read.keywords.get(keyword).filter(|_| read.draft >= Draft::Of2019);
            says.map(|says| Read { keyword, says, ..*read }.count()).transpose()
        };
        let (min, max) = (bound("minContains")?.unwrap_or(1), bound("maxContains")?);
        Ok(Contains { node: self.one(read)?, min, max })
    }

    /// The schema at a place, to which something leads.
    fn at(&mut self, place: &str) -> Result<usize, SchemaError> {
        let part = self.document.at(place)?;
        if self.leads {
            self.due.push(part);
        }
        Ok(part)
    }

    fn pattern(&mut self, text: &str, place: &str) -> usize {
        if self.leads { self.patterns.add(text, place) } else { 0 }
    }

    /// The schema that a keyword is.
    fn one(&mut self, read: &Read<'_>) -> Result<usize, SchemaError> {
        self.at(&read.place())
    }

    fn sibling(&mut self, read: &Read<'_>, keyword: &str) -> Result<Option<usize>, SchemaError> {
        let has = read.keywords.contains_key(keyword);
        has.then(|| self.at(&below(&read.part.place, keyword))).transpose()
    }

    /// The schemas that a keyword lists.
    fn several(&mut self, read: &Read<'_>) -> Result<Vec<usize>, SchemaError> {
        let (place, count) = (read.place(), read.list()?.len());
        if count == 0 {
            return Err(read.wrong("has to have a schema"));
        }
        (0..count).map(|index| self.at(&format!("{place}/{index}"))).collect()
    }

    /// Where a reference leads, and by which dynamic anchor.
    fn reference(
        &mut self,
        read: &Read<'_>,
        to: &str,
    ) -> Result<(usize, Option<String>), SchemaError> {
        if !self.leads {
            return Ok((0, None));
        }
        let target = self.document.resolve(read.part.resource, to);
        let target = target.map_err(|error| match error.place.is_empty() {
            true => SchemaError::new(&read.place(), error.reason),
            false => error,
        })?;
        self.due.push(target.part);
        Ok((target.part, target.dynamic))
    }
}

/// A keyword that is read.
struct Read<'r> {
    draft: Draft,
    /// All of the schema.
    keywords: &'r Map<String, Value>,
    keyword: &'r str,
    says: &'r Value,
    part: &'r Part<'r>,
}

impl Keyword {
    /// It is about what others have not looked at.
    fn asks_for_the_rest(&self) -> bool {
        matches!(self, Self::UnevaluatedItems(_) | Self::UnevaluatedProperties(_))
    }

    /// About how many values it compares.
    fn weight(&self) -> usize {
        1 + match self {
            Self::Enum(values) => values.iter().map(size).sum(),
            Self::Const(value) => size(value),
            Self::Required(names) => names.iter().map(|name| cost(name)).sum(),
            Self::Dependent(all) => all
                .iter()
                .map(|(with, demand)| match demand {
                    Demand::Names(names) => {
                        cost(with) + names.iter().map(|it| cost(it)).sum::<usize>()
                    }
                    Demand::Schema(_) => cost(with),
                })
                .sum(),
            _ => 0,
        }
    }
}

/// About what it costs to look for a name.
fn cost(name: &str) -> usize {
    1 + name.len() / BYTES_A_STEP
}
