import type { Field, FunctionModel, Side, TypeModel } from './plugin-interface.ts';

/** AssemblyScript for types, and for reading and writing their values. */
export class Types {
  /** The classes and enumerations, by the name of the declaration. */
  readonly types: ReadonlyMap<string, string>;

  constructor(types: ReadonlyMap<string, string>) {
    this.types = types;
  }

  /** The type of a value without null; a number in a box. */
  boxedText(type: TypeModel): string {
    const bare = this.typeText({ ...type, nullable: false });
    return isBoxed(type) ? `Box<${bare}>` : bare;
  }

  typeText(type: TypeModel): string {
    if (type.nullable) return `${this.boxedText(type)} | null`;
    switch (type.kind) {
      case 'string':
        return 'string';
      case 'boolean':
        return 'bool';
      case 'bytes':
        return 'Uint8Array';
      case 'integer':
        return `${type.signed ? 'i' : 'u'}${type.bits}`;
      case 'number':
        return `f${type.bits}`;
      case 'array':
        return `Array<${this.typeText(type.items)}>`;
      case 'map':
        return `Map<string, ${this.typeText(type.items)}>`;
      case 'any':
        return 'Json';
      case 'object':
      case 'enum':
        return this.types.get(type.name) as string;
    }
  }

  initial(type: TypeModel): string {
    const isObject = type.kind === 'object' && !type.nullable; // which could contain itself
    return isObject ? '' : ` = ${this.empty(type)}`;
  }

  empty(type: TypeModel): string {
    if (type.nullable) return 'null';
    switch (type.kind) {
      case 'string':
        return '""';
      case 'boolean':
        return 'false';
      case 'integer':
      case 'number':
      case 'enum':
        return '0';
      case 'any':
        return 'new Json()';
      case 'array':
        return '[]';
      case 'map':
        return `new ${this.typeText(type)}()`;
      case 'bytes':
        return 'new Uint8Array(0)';
      case 'object':
        return `new ${this.typeText(type)}()`;
    }
  }

  read(type: TypeModel, json: string, isInBox = false): string {
    if (type.nullable) {
      const inner = this.boxedText(type);
      return `nullable<${inner}>(${json}, (json: Json): ${inner} => ${this.read({ ...type, nullable: false }, 'json', true)})`;
    }
    const value = this.readBare(type, json);
    return isInBox && isBoxed(type) ? `new ${this.boxedText(type)}(${value})` : value;
  }

  readBare(type: TypeModel, json: string): string {
    switch (type.kind) {
      case 'string':
        return `readString(${json})`;
      case 'boolean':
        return `readBoolean(${json})`;
      case 'bytes':
        return `readBytes(${json})`;
      case 'integer':
        return `readInteger<${this.typeText(type)}>(${json})`;
      case 'number':
        return `readNumber<${this.typeText(type)}>(${json})`;
      case 'array':
      case 'map': {
        const item = this.typeText(type.items);
        const read = type.kind === 'array' ? 'readList' : 'readMap';
        return `${read}<${item}>(${json}, (json: Json): ${item} => ${this.read(type.items, 'json')})`;
      }
      case 'enum': {
        const name = this.types.get(type.name);
        return `<${name}>readEnum(${json}, ${name}$names)`;
      }
      case 'object':
        return `read$${this.types.get(type.name)}(${json})`;
      case 'any':
        return json;
    }
  }

  /** A statement that writes the value. */
  write(type: TypeModel, value: string, writer: string): string {
    if (type.nullable) {
      const bare = { ...type, nullable: false };
      const inner = this.write(bare, isBoxed(type) ? 'present.value' : 'present', writer);
      return `{ const present = ${value}; if (present === null) ${writer}.null(); else { ${inner} } }`;
    }
    switch (type.kind) {
      case 'string':
      case 'boolean':
      case 'bytes':
        return `${writer}.${type.kind}(${value});`;
      case 'any':
        return `${writer}.json(${value});`;
      case 'integer':
      case 'number':
        return `${writer}.${type.kind}<${this.typeText(type)}>(${value});`;
      case 'array':
      case 'map': {
        const item = this.typeText(type.items);
        const write = `(writer: Writer, value: ${item}): void => { ${this.write(type.items, 'value', 'writer')} }`;
        return `${writer}.${type.kind === 'array' ? 'list' : 'map'}<${item}>(${value}, ${write});`;
      }
      case 'enum':
        return `${writer}.string(${this.types.get(type.name)}$names[${value}]);`;
      case 'object':
        return `write$${this.types.get(type.name)}(${writer}, ${value});`;
    }
  }

  /** An expression for the value of a text, or of bytes. */
  decode({ encoding, type }: Side, from: (kind: 'Bytes' | 'Text') => string): string {
    if (encoding === 'binary') return from('Bytes');
    if (encoding === 'json') return this.read(type, `Json.parse(${from('Text')})`);
    const name = type.kind === 'enum' ? this.types.get(type.name) : undefined;
    return name === undefined ? from('Text') : `<${name}>enumIndex(${from('Text')}, ${name}$names)`;
  }

  /** Statements before, and an expression for, the bytes of `value`. */
  encode({ encoding, type }: Side, value: string, to: (kind: 'Bytes' | 'Text', value: string) => string): string[] {
    if (encoding === 'binary') return [to('Bytes', value)];
    if (encoding === 'json') {
      return ['const writer = new Writer();', this.write(type, value, 'writer'), to('Text', 'writer.toString()')];
    }
    return [to('Text', type.kind === 'enum' ? `${this.types.get(type.name)}$names[${value}]` : value)];
  }

  signature({ input, output }: FunctionModel): string {
    const parameter = input === undefined ? '' : `input: ${this.typeText(input.type)}`;
    return `(${parameter}): ${output === undefined ? 'void' : this.typeText(output.type)}`;
  }
}

/** Whether only a box makes the type nullable. */
export function isBoxed({ kind }: TypeModel): boolean {
  return kind === 'boolean' || kind === 'integer' || kind === 'number' || kind === 'enum';
}

export function fieldType({ type, isRequired }: Field): TypeModel {
  return isRequired ? type : { ...type, nullable: true };
}
