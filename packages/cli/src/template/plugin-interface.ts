import { printable } from '../text.ts';

/** The content: text, or bytes. */
export type Payload = 'text' | 'bytes';

/** One side of a function. */
export interface Side {
  readonly payload: Payload;
  /** In words, for a comment: `application/json, an Address: where it goes`. */
  readonly words: string;
}

/** A function of an extension point's schema, as far as a template needs to know it. */
export interface TemplateFunction {
  readonly name: string;
  readonly description: string;
  readonly input: Side | undefined;
  readonly output: Side | undefined;
}

/** A plugin's exports, and its imports from the host. */
export interface PluginInterface {
  readonly exports: readonly TemplateFunction[];
  readonly imports: readonly TemplateFunction[];
  /** The WebAssembly proposals that it may use; nothing for all. */
  readonly proposals?: readonly string[] | undefined;
}

/** The interface of a plugin without an extension point. */
export const sampleInterface: PluginInterface = {
  exports: [
    {
      name: 'greet',
      description: 'Greets a person by name.',
      input: { payload: 'text', words: 'text/plain; charset=utf-8: the name' },
      output: { payload: 'text', words: 'text/plain; charset=utf-8: the greeting' },
    },
  ],
  imports: [],
};

const maxFunctions = 1000;
const maxNameLength = 200;

/**
 * Reads what a template needs of an extension point. Names that are no identifiers, which only schemas of long ago have, are left out:
 * what comes from a server must not become code.
 */
export function readPluginInterface(schema: unknown, proposals?: readonly string[] | null): PluginInterface {
  const { exports, imports } = asRecord(schema);
  return { exports: functionsOf(exports), imports: functionsOf(imports), proposals: proposals ?? undefined };
}

function functionsOf(functions: unknown): TemplateFunction[] {
  return Object.entries(asRecord(functions))
    .filter(([name]) => name.length <= maxNameLength && /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name))
    .slice(0, maxFunctions)
    .map(([name, value]) => {
      const entry = asRecord(value);
      return { name, description: asText(entry.description), input: sideOf(entry.input), output: sideOf(entry.output) };
    });
}

function sideOf(parameter: unknown): Side | undefined {
  if (parameter === undefined || parameter === null) return undefined;
  const { contentType, type, description, $ref, items } = asRecord(parameter);
  const said = asText(contentType);
  const travelsAs =
    said ||
    (type === 'buffer' ? 'application/x-binary' : type === 'string' ? 'text/plain; charset=utf-8' : 'application/json');
  const component =
    componentOf($ref) || (componentOf(asRecord(items).$ref) && `list of ${componentOf(asRecord(items).$ref)}`);
  const what = component || (travelsAs.startsWith('text/') ? '' : asText(type));
  const words = [travelsAs, ...(what === '' ? [] : [what])].join(', ');
  const about = asText(description);
  return {
    payload: travelsAs.trim().toLowerCase().startsWith('application/x-binary') ? 'bytes' : 'text',
    words: about === '' ? words : `${words}: ${about}`,
  };
}

function componentOf(reference: unknown): string {
  return asText(reference).split('/').at(-1) ?? '';
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 2000) : '';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const lineLength = 96;

/** The lines of a comment about a function, wrapped. Nothing in them ends the comment, or changes how the text is shown. */
export function commentLines({ description, input, output }: TemplateFunction): string[] {
  const about = description.split(/\r?\n/).flatMap(wrap);
  const sides = [
    ...(input === undefined ? ['Takes nothing.'] : wrap(`Takes ${oneLine(input.words)}`)),
    ...(output === undefined ? ['Answers nothing.'] : wrap(`Answers ${oneLine(output.words)}`)),
  ];
  return [...about, ...(about.length > 0 ? [''] : []), ...sides];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of harmless(text).split(/\s+/).filter(Boolean)) {
    if (line !== '' && line.length + word.length >= lineLength) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

function harmless(text: string): string {
  return printable(text.replaceAll('\t', ' ')).replaceAll('*/', '* /').replaceAll('/*', '/ *');
}

/** Names that differ, each as near to what was wanted as can be. */
export function distinctNames(wanted: readonly string[], taken: ReadonlySet<string>): string[] {
  const used = new Set(taken);
  return wanted.map((base) => {
    let name = base;
    for (let number = 2; used.has(name); number++) name = `${base}_${number}`;
    used.add(name);
    return name;
  });
}
