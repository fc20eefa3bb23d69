import { distinctNames } from './names.ts';

/** The type of a value. Components that are only other names of types are resolved. */
export type TypeModel =
  | { readonly kind: 'string' | 'boolean' | 'bytes' | 'any'; readonly nullable: boolean }
  | {
      readonly kind: 'integer';
      readonly bits: 8 | 16 | 32 | 64;
      readonly signed: boolean;
      readonly isPlain: boolean;
      readonly nullable: boolean;
    }
  | { readonly kind: 'number'; readonly bits: 32 | 64; readonly nullable: boolean }
  | { readonly kind: 'array' | 'map'; readonly items: TypeModel; readonly nullable: boolean }
  | { readonly kind: 'object' | 'enum'; readonly name: string; readonly nullable: boolean };

export interface Field {
  /** The key in JSON. */
  readonly name: string;
  readonly description: string;
  readonly type: TypeModel;
  readonly isRequired: boolean;
}

/** A type with a name in the generated code. */
export type Declaration = { readonly name: string; readonly description: string } & (
  | { readonly kind: 'object'; readonly fields: readonly Field[] }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
);

/** An input or output, and how its value becomes bytes. */
export interface Side {
  readonly encoding: 'json' | 'text' | 'binary';
  readonly type: TypeModel;
  readonly description: string;
}

/** An export or import. */
export interface FunctionModel {
  readonly name: string;
  readonly description: string;
  readonly input: Side | undefined;
  readonly output: Side | undefined;
}

/** What generators read from an extension point. */
export interface PluginInterface {
  readonly exports: readonly FunctionModel[];
  readonly imports: readonly FunctionModel[];
  readonly declarations: readonly Declaration[];
  /** The WebAssembly proposals that a plugin may use; `undefined` for all. */
  readonly proposals?: readonly string[] | undefined;
}

/** Files by path, with `/`, relative to the plugin's folder. */
export interface GeneratedFiles {
  /** The bindings, which are generated again after a change of the schema. */
  readonly generated: ReadonlyMap<string, string>;
  /** The plugin's own files, which only a new plugin gets. */
  readonly source: ReadonlyMap<string, string>;
}

const maxFunctions = 1000;
const maxNameLength = 200;
const maxDepth = 64;
const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * Reads what generators need of a schema. Skips invalid parts and names that are not identifiers: a server's response must not become
 * code.
 */
export function readPluginInterface(schema: unknown, proposals?: readonly string[] | null): PluginInterface {
  const { exports, imports, components } = asRecord(schema);
  const reader = new TypeReader(asRecord(asRecord(components).schemas));
  return {
    exports: functionsOf(exports, reader),
    imports: functionsOf(imports, reader),
    declarations: reader.declarations,
    proposals: proposals ?? undefined,
  };
}

function functionsOf(functions: unknown, reader: TypeReader): FunctionModel[] {
  return Object.entries(asRecord(functions))
    .filter(([name]) => isName(name))
    .slice(0, maxFunctions)
    .map(([name, value]) => {
      const { description, input, output } = asRecord(value);
      return {
        name,
        description: asText(description),
        input: reader.side(input, `${name}Input`),
        output: reader.side(output, `${name}Output`),
      };
    });
}

/** Reads types, and declares the objects and enumerations in them. */
class TypeReader {
  readonly declarations: Declaration[] = [];
  readonly #components: Readonly<Record<string, unknown>>;
  readonly #names = new Set<string>();
  /** The declared name of each component that is an object or enumeration. */
  readonly #declared = new Map<string, string>();

  constructor(components: Readonly<Record<string, unknown>>) {
    this.#components = components;
    const shared = Object.keys(components).filter((name) => isName(name) && declaresType(asRecord(components[name])));
    for (const name of shared) this.#declared.set(name, this.#typeName(name));
    for (const name of shared) this.#declare(this.#declared.get(name) as string, asRecord(components[name]), 0);
  }

  side(parameter: unknown, name: string): Side | undefined {
    if (parameter === undefined || parameter === null) return undefined;
    const given = asRecord(parameter);
    const type = this.#read(given, name, 0, new Set());
    const contentType = asText(given.contentType).toLowerCase();
    const isText = contentType === '' ? type.kind === 'string' : contentType.startsWith('text/plain');
    const isBinary = contentType === '' ? given.type === 'buffer' : contentType.startsWith('application/x-binary');
    const description = asText(given.description);
    if (isBinary) return { encoding: 'binary', type: { kind: 'bytes', nullable: false }, description };
    if (!isText) return { encoding: 'json', type, description };
    const text: TypeModel = type.kind === 'enum' ? { ...type, nullable: false } : { kind: 'string', nullable: false };
    return { encoding: 'text', type: text, description };
  }

  /** @param name what to call the type, if it needs a declaration */
  #read(type: Readonly<Record<string, unknown>>, name: string, depth: number, aliases: ReadonlySet<string>): TypeModel {
    const nullable = type.nullable === true;
    if (depth > maxDepth) return { kind: 'any', nullable: false };
    if (typeof type.$ref === 'string') return this.#reference(type.$ref, nullable, depth, aliases);
    if (declaresType(type)) {
      const declared = this.#typeName(name);
      this.#declare(declared, type, depth + 1);
      return { kind: Array.isArray(type.enum) ? 'enum' : 'object', name: declared, nullable };
    }
    const inner = (part: unknown) => this.#read(asRecord(part), `${name}Item`, depth + 1, aliases);
    if (type.items !== undefined) return { kind: 'array', items: inner(type.items), nullable };
    if (type.additionalProperties !== undefined) {
      return { kind: 'map', items: inner(type.additionalProperties), nullable };
    }
    return scalar(type, nullable);
  }

  #reference(reference: string, nullable: boolean, depth: number, aliases: ReadonlySet<string>): TypeModel {
    const component = reference.slice(reference.lastIndexOf('/') + 1);
    const target = Object.hasOwn(this.#components, component) ? asRecord(this.#components[component]) : {};
    const isNullable = nullable || target.nullable === true;
    const name = this.#declared.get(component);
    if (name !== undefined) return { kind: Array.isArray(target.enum) ? 'enum' : 'object', name, nullable: isNullable };
    if (!isName(component) || aliases.has(component)) return { kind: 'any', nullable: false };
    const type = this.#read(target, component, depth + 1, new Set([...aliases, component]));
    return { ...type, nullable: isNullable && type.kind !== 'any' };
  }

  #typeName(wanted: string): string {
    const base = wanted.replaceAll('$', '_').replace(/^_+(?=.)/, '');
    const upper = base.replace(/^\d/, '_$&').replace(/^[a-z]/, (first) => first.toUpperCase());
    const [name] = distinctNames([upper], this.#names, (text) => text.toLowerCase());
    this.#names.add((name as string).toLowerCase());
    return name as string;
  }

  #declare(name: string, type: Readonly<Record<string, unknown>>, depth: number): void {
    const description = asText(type.description);
    if (Array.isArray(type.enum)) {
      const values = type.enum.filter((value) => typeof value === 'string');
      this.declarations.push({ kind: 'enum', name, description, values: [...new Set(values)] });
      return;
    }
    const required = new Set<unknown>(Array.isArray(type.required) ? type.required : []);
    const fields = Object.entries(asRecord(type.properties))
      .filter(([key]) => isName(key))
      .map(([key, value]) => ({
        name: key,
        description: asText(asRecord(value).description),
        type: this.#read(asRecord(value), `${name}${key.charAt(0).toUpperCase()}${key.slice(1)}`, depth + 1, new Set()),
        isRequired: required.has(key),
      }));
    this.declarations.push({ kind: 'object', name, description, fields });
  }
}

function declaresType(type: Readonly<Record<string, unknown>>): boolean {
  if (Array.isArray(type.enum)) return type.enum.some((value) => typeof value === 'string');
  return typeof type.properties === 'object' && type.properties !== null && typeof type.$ref !== 'string';
}

function scalar({ type, format }: Readonly<Record<string, unknown>>, nullable: boolean): TypeModel {
  if (type === 'string') return { kind: format === 'byte' ? 'bytes' : 'string', nullable };
  if (type === 'buffer') return { kind: 'bytes', nullable };
  if (type === 'boolean') return { kind: 'boolean', nullable };
  if (type === 'number') return { kind: 'number', bits: format === 'float' ? 32 : 64, nullable };
  if (type !== 'integer') return { kind: 'any', nullable: false };
  const [, unsigned, size] = /^(u?)int(8|16|32|64)$/.exec(asText(format)) ?? [];
  return {
    kind: 'integer',
    bits: Number(size ?? 64) as 8 | 16 | 32 | 64,
    signed: unsigned !== 'u',
    isPlain: size === undefined,
    nullable,
  };
}

/** Whether a value of the type can hold one of the object that has it as a field, without a list or map between. */
export function isRecursive(declarations: readonly Declaration[], owner: string, type: TypeModel): boolean {
  const seen = new Set<string>();
  const reaches = (current: TypeModel): boolean => {
    if (current.kind !== 'object') return false;
    if (current.name === owner) return true;
    if (seen.has(current.name)) return false;
    seen.add(current.name);
    const target = declarations.find(({ name }) => name === current.name);
    return target?.kind === 'object' && target.fields.some((field) => reaches(field.type));
  };
  return reaches(type);
}

/** Every type within the interface, and the types in those. */
export function typesOf({ exports, imports, declarations }: PluginInterface): TypeModel[] {
  const within = (type: TypeModel): TypeModel[] =>
    type.kind === 'array' || type.kind === 'map' ? [...within(type.items), type] : [type];
  const sides = [...exports, ...imports].flatMap(({ input, output }) => [input, output]);
  const fields = declarations.flatMap((entry) => (entry.kind === 'object' ? entry.fields : []));
  return [...sides, ...fields].flatMap((entry) => (entry === undefined ? [] : within(entry.type)));
}

function isName(name: string): boolean {
  return name.length <= maxNameLength && identifier.test(name);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, 2000) : '';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The schema of a plugin without an extension point. */
export const sampleSchema = {
  exports: {
    greet: {
      description: 'Greets a person by name.',
      input: { contentType: 'text/plain; charset=utf-8', type: 'string', description: 'the name' },
      output: { contentType: 'text/plain; charset=utf-8', type: 'string', description: 'the greeting' },
    },
  },
};

export const sampleInterface: PluginInterface = readPluginInterface(sampleSchema);
