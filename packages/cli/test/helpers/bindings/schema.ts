/* Every type of the schema language, and values of it. */

const json = (type: object) => ({ contentType: 'application/json', ...type });
const text = (type: object) => ({ contentType: 'text/plain; charset=utf-8', ...type });
const binary = { contentType: 'application/x-binary', type: 'buffer' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const both = (side: object) => ({ input: side, output: side });
const integer = (format: string) => ({ type: 'integer', format });
const array = (items: object) => ({ type: 'array', items });
const map = (additionalProperties: object) => ({ type: 'object', additionalProperties });

const required = {
  string: { type: 'string', description: 'hostile */ text \\' },
  ...Object.fromEntries(
    ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'].map((name) => [name, integer(name)]),
  ),
  integer: { type: 'integer' },
  f32: { type: 'number', format: 'float' },
  f64: { type: 'number', format: 'double' },
  boolean: { type: 'boolean' },
  when: { type: 'string', format: 'date-time' },
  bytes: { type: 'buffer' },
  color: ref('Color'),
  list: array({ type: 'number' }),
  map: map({ type: 'string' }),
  any: { type: 'object' },
  nullableNumber: { type: 'number', nullable: true },
  nullableText: { type: 'string', nullable: true },
  nullableColor: { ...ref('Color'), nullable: true },
  matrix: array(array(integer('uint8'))),
  names: ref('Names'),
  inline: {
    properties: {
      class: { type: 'string' },
      int: integer('int32'),
      a$b: { type: 'boolean' },
      a_b: { type: 'boolean' },
    },
    required: ['class'],
  },
  tree: ref('Tree'),
  nullableItems: array({ type: 'string', nullable: true }),
};

const optional = {
  optionalText: { type: 'string' },
  optionalNumber: { type: 'number' },
  optionalInteger: integer('uint64'),
  optionalBoolean: { type: 'boolean' },
  optionalColor: ref('Color'),
  optionalList: array({ type: 'boolean' }),
  optionalBytes: { type: 'string', format: 'byte' },
  optionalAny: { type: 'object' },
  optionalMap: map({ type: 'number', nullable: true }),
  optionalTree: { ...ref('Tree'), nullable: true },
};

const tree = {
  properties: {
    value: { type: 'integer' },
    left: ref('Tree'),
    children: array(ref('Tree')),
    byName: map(ref('Tree')),
  },
  required: ['value'],
};

export const schema = {
  version: 'v1-draft',
  exports: {
    echo: both(json(ref('Everything'))),
    echoText: both(text({ type: 'string' })),
    echoBytes: both(binary),
    echoEnum: { input: text(ref('Color')), output: json(ref('Color')) },
    echoNumber: both(json({ type: 'number', nullable: true })),
    echoList: both(json(array({ ...integer('int64'), nullable: true }))),
    nan: { output: json({ type: 'number' }) },
    tick: {},
    viaHost: both(json(ref('Everything'))),
  },
  imports: {
    reflect: both(json(ref('Everything'))),
    blob: both(binary),
    note: { input: text({ type: 'string' }) },
    pick: { output: text(ref('Color')) },
  },
  components: {
    schemas: {
      Color: { enum: ['red', 'delete', 'very-blue', 'grün', '👋', '??/"};int x;//'] },
      Names: array({ type: 'string' }),
      Tree: tree,
      Everything: { properties: { ...required, ...optional }, required: Object.keys(required) },
    },
  },
};

/** JSON of the type `Everything`. */
export function everything(string: string, bytes: string, isFull: boolean): string {
  const value = `{"string":${JSON.stringify(string)},"int8":-128,"int16":-32768,"int32":-2147483648,
    "int64":-9223372036854775808,"uint8":255,"uint16":65535,"uint32":4294967295,"uint64":18446744073709551615,
    "integer":9007199254740991,"f32":0.5,"f64":5e-324,"boolean":true,"when":"2026-01-01T00:00:00Z","bytes":"${bytes}",
    "color":"👋","list":[0.1,1.7976931348623157e308,-0.5,123456789.125,3,1e21,2.2250738585072014e-308,0.30000000000000004,1e23],
    "map":{"a":"b","👋":""},"any":{"x":[1,9007199254740993,null,true,"y"]},"nullableNumber":null,"nullableText":null,
    "nullableColor":null,"matrix":[[1,2],[],[255]],"names":["","\\u0000\\n\\"\\\\"],
    "inline":{"class":"k","int":5,"a$b":true,"a_b":false},"tree":{"value":1,"left":{"value":-9007199254740991},
    "children":[{"value":2,"children":[]},{"value":3,"byName":{"ü":{"value":4}}}]},"nullableItems":["a",null,""]`;
  if (!isFull) return `${value}}`;
  return `${value},"optionalText":"","optionalNumber":0,"optionalInteger":9007199254740993,"optionalBoolean":false,
    "optionalColor":"red","optionalList":[],"optionalBytes":"","optionalAny":[],"optionalMap":{"a":null,"b":1},
    "optionalTree":{"value":0}}`;
}

/** JSON as a value that is equal for equal JSON: integers that numbers can't hold are kept as text. */
export function canonical(json: string): unknown {
  return JSON.parse(json, (_, value, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d{16,20}$/.test(context?.source ?? '')
      ? `${context?.source}`
      : value,
  );
}
