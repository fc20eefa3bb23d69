import type { FunctionModel, Side, TypeModel } from './plugin-interface.ts';

/** C for types, and for reading and writing their values. */
export class Types {
  /** The structs and enumerations, by the name of the declaration. */
  readonly tags: ReadonlyMap<string, string>;

  constructor(tags: ReadonlyMap<string, string>) {
    this.tags = tags;
  }

  /** The name of the functions that read and write the type, after `read_` and `write_`. */
  codec(type: TypeModel): string {
    if (type.nullable) return `${isScalar(type) ? 'optional' : 'nullable'}_${this.codec({ ...type, nullable: false })}`;
    switch (type.kind) {
      case 'string':
        return 'text';
      case 'bytes':
        return 'bytes';
      case 'boolean':
        return 'bool';
      case 'any':
        return 'json';
      case 'integer':
        return `${type.signed ? '' : 'u'}int${type.bits}`;
      case 'number':
        return type.bits === 32 ? 'float' : 'double';
      case 'object':
      case 'enum':
        return this.tags.get(type.name) as string;
      case 'array':
      case 'map': {
        let name = `${type.kind === 'array' ? 'list' : 'map'}_of_${this.codec(type.items)}`;
        const tags = [...this.tags.values()];
        while (tags.includes(name)) name += '_';
        return name;
      }
    }
  }

  typeText(type: TypeModel): string {
    const codec = this.codec({ ...type, nullable: false });
    if (isScalar(type) && type.nullable) return `struct optional_${codec}`;
    if (type.kind === 'integer') return `${codec}_t`;
    if (type.kind === 'boolean' || type.kind === 'number') return codec;
    if (type.kind === 'string' || type.kind === 'bytes') return 'struct bytes';
    if (type.kind === 'any') return 'const struct json *';
    return type.kind === 'enum' ? `enum ${codec}` : type.kind === 'object' ? `struct ${codec} *` : `struct ${codec}`;
  }

  declare(type: TypeModel, name: string): string {
    const text = this.typeText(type);
    return text.endsWith('*') ? text + name : `${text} ${name}`;
  }

  /** Statements that read `side` from bytes into a variable, and do `failed` if it is invalid. */
  decode({ encoding, type }: Side, variable: string, bytes: string, failed: string): string[] {
    const declared = this.declare(type, variable);
    if (encoding !== 'json' && type.kind !== 'enum') return [`${declared} = ${bytes};`];
    if (encoding === 'text') {
      return [
        `${declared};`,
        `if (!read_text_${this.codec(type)}(${bytes}, &${variable})) { fail_mistake(); ${failed} }`,
      ];
    }
    return [
      `const struct json *json = json_parse(${bytes});`,
      `if (json == NULL) ${failed}`,
      `${declared};`,
      `if (!read_${this.codec(type)}(json, &${variable})) { fail_mistake(); ${failed} }`,
    ];
  }

  /** Statements before, and an expression for, the bytes of a value. */
  encode({ encoding, type }: Side, value: string): [before: string[], bytes: string] {
    if (encoding === 'json') return [['json_begin();', `write_${this.codec(type)}(${value});`], 'json_written'];
    return [[], type.kind === 'enum' ? `text(${this.codec(type)}_names[${value}])` : value];
  }

  signature({ input, output }: FunctionModel, name: string, parameter: string): string {
    const result = output === undefined ? `void ${name}` : this.declare(output.type, name);
    return `${result}(${input === undefined ? 'void' : this.declare(input.type, parameter)})`;
  }

  empty(type: TypeModel): string {
    const text = this.typeText(type);
    if (type.kind === 'enum' && !type.nullable) return `(${text})0`;
    return text.startsWith('struct ') && !text.endsWith('*') ? `(${text}){0}` : text.endsWith('*') ? 'NULL' : '0';
  }
}

/** Whether the type has a struct of its own to be absent. */
export function isScalar({ kind }: TypeModel): boolean {
  return kind === 'boolean' || kind === 'integer' || kind === 'number' || kind === 'enum';
}

export function presence(type: TypeModel, value: string): string {
  if (isScalar(type)) return `${value}.present`;
  if (type.kind === 'object' || type.kind === 'any') return `${value} != NULL`;
  return `${value}.${type.kind === 'array' || type.kind === 'map' ? 'items' : 'at'} != NULL`;
}
