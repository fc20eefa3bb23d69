import { readMangledPath } from './mangled-names.ts';

/** A longer name has no namespaces, so that hostile ones take no time. */
const maxNameLength = 4096;
/** Bounds the memory for hostile names: inner namespaces are left out. */
const maxNamespaces = 32;

/**
 * The namespaces that a function's name lies in, outermost first: of `a::b::f`, these are `a` and `a::b`. Understands
 * mangled names of Rust and C++, and the demangled names of those and of Go, AssemblyScript and others.
 */
export function namespacesOf(name: string): readonly string[] {
  if (name.length > maxNameLength) return [];
  const mangled = readMangledPath(name);
  if (mangled === undefined) return namespacesOfText(name);
  const [first = '', ...rest] = mangled;
  if (/^[<&(]/.test(first)) return namespacesOfText(`${first}::${rest.join('::')}`);
  const count = Math.max(0, Math.min(mangled.length - 1, maxNamespaces));
  return Array.from({ length: count }, (_, index) => mangled.slice(0, index + 1).join('::'));
}

function namespacesOfText(text: string): readonly string[] {
  const path = withoutSignature(text);
  const namespaces: string[] = [];
  for (let depth = 0, at = 0; at < path.length && namespaces.length < maxNamespaces; at++) {
    depth = nest(depth, path, at);
    if (depth > 0) continue;
    const isSeparator = path.startsWith('::', at) || /[./#]/.test(path[at] as string);
    if (isSeparator && at > 0 && path[at - 1] !== ':') namespaces.push(path.slice(0, at));
  }
  const [outermost = ''] = namespaces;
  // `<T as Trait>::f` of Rust and `(*pkg.T).f` of Go.
  if (outermost.startsWith('<') || outermost.startsWith('(*')) return namespacesOfSelf(outermost.slice(1, -1));
  return namespaces;
}

/** Crates that come with the compiler. Another crate's trait for one of their types is code of that crate. */
const rustCrates = /^(?:core|alloc|std)$/;

/** The namespaces of the type in `<T>`, `<T as Trait>` or `(*T)`, or else those of the trait. */
function namespacesOfSelf(text: string): readonly string[] {
  const [type = '', trait = ''] = splitTopLevel(text, ' as ');
  const ofType = namespacesOfType(type);
  const ofTrait = trait === '' ? [] : namespacesOfType(trait);
  const [crate = ''] = ofType;
  const [traitCrate = 'core'] = ofTrait;
  return crate === '' || (rustCrates.test(crate) && !rustCrates.test(traitCrate)) ? ofTrait : ofType;
}

/** A type is a namespace of its methods. */
function namespacesOfType(text: string): readonly string[] {
  const type = text.replace(/^(?:[&*([]|mut |const |dyn )+/, '');
  const outer = namespacesOfText(`${type}::`);
  return outer.length > 1 ? outer : [];
}

/** The name without its parameters, and without the result that C++ demanglers put before some. */
function withoutSignature(text: string): string {
  const operator = /\boperator(?!\w|::).*$/s;
  const head = withoutParameters(text.replace(operator, 'operator'));
  return splitTopLevel(head, ' ').at(-1) ?? '';
}

function withoutParameters(text: string): string {
  for (let depth = 0, opened = -1, at = 0; at < text.length; at++) {
    const before = depth;
    depth = nest(depth, text, at);
    if (before === 0 && text[at] === '(') opened = at;
    // Parentheses in the middle of a path belong to it: `(anonymous namespace)::`, `(*T).f`, `f(int)::local`.
    if (before === 1 && depth === 0 && opened > 0 && text[at] === ')' && !/[.:#]/.test(text[at + 1] ?? '')) {
      return text.slice(0, opened);
    }
  }
  return text;
}

function splitTopLevel(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let depth = 0, at = 0; at < text.length; at++) {
    depth = nest(depth, text, at);
    if (depth > 0 || !text.startsWith(separator, at)) continue;
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}

/** The depth of brackets after the character at `at`. The arrow of a function type closes nothing. */
function nest(depth: number, text: string, at: number): number {
  const character = text[at] as string;
  if ('<([{'.includes(character)) return depth + 1;
  if (character === '>' && text[at - 1] === '-') return depth;
  return '>)]}'.includes(character) ? Math.max(0, depth - 1) : depth;
}
