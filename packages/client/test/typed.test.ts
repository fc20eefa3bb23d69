import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createTypedPlugin, PluginValueError, type TypedPluginOptions } from '@tenon/client/typed';
import { parseExtensionPointSchema } from '@tenon/extension-schema';
import loadWabt from 'wabt';

const wabt = await loadWabt();

/** `echo…` returns its input, `ask` what the host returns for it, and `lie…` a text of its own. */
function assemble(names: readonly string[], lies: Readonly<Record<string, string>> = {}): WebAssembly.Module {
  const echoes = names.map(
    (name) => `(func (export "${name}") (result i32)
      (call $output_set (call $input_offset) (call $input_length)) (i32.const 0))`,
  );
  const texts = Object.entries(lies).map(([name, text]) => {
    const bytes = [...new TextEncoder().encode(text)];
    const stores = bytes.map(
      (byte, at) => `(call $store (i64.add (local.get $at) (i64.const ${at})) (i32.const ${byte}))`,
    );
    return `(func (export "${name}") (result i32) (local $at i64)
      (local.set $at (call $alloc (i64.const ${bytes.length}))) ${stores.join(' ')}
      (call $output_set (local.get $at) (i64.const ${bytes.length})) (i32.const 0))`;
  });
  const source = `(module
    (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
    (import "extism:host/env" "input_length" (func $input_length (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (import "extism:host/user" "look" (func $look (param i64) (result i64)))
    (func (export "ask") (result i32) (local $found i64)
      (local.set $found (call $look (call $input_offset)))
      (call $output_set (local.get $found) (call $length (local.get $found))) (i32.const 0))
    (func (export "trap") (result i32) (unreachable))
    ${echoes.join('\n')} ${texts.join('\n')})`;
  const module = wabt.parseWat('test.wat', source);
  try {
    return new WebAssembly.Module(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

const types: Readonly<Record<string, string>> = {
  text: '{ type: string }',
  maybeText: '{ type: string, nullable: true }',
  bytes: '{ type: buffer }',
  maybeBytes: '{ type: buffer, nullable: true }',
  flag: '{ type: boolean }',
  number: '{ type: number }',
  integer: '{ type: integer }',
  byte: '{ type: integer, format: uint8 }',
  int64: '{ type: integer, format: int64 }',
  uint64: '{ type: integer, format: uint64 }',
  day: '{ type: string, format: date-time, contentType: application/json }',
  word: '{ enum: [a, b], contentType: text/plain }',
  numberAsText: '{ type: number, contentType: text/plain }',
  any: '{ type: object }',
  map: '{ additionalProperties: { type: integer, format: int64 } }',
  order: '{ $ref: "#/components/schemas/Order" }',
  tree: '{ $ref: "#/components/schemas/Tree" }',
  shape: '{ $ref: "#/components/schemas/Shape" }',
};

const schema = JSON.parse(
  parseExtensionPointSchema(`
version: v1-draft
exports:
  ${Object.entries(types)
    .map(([name, type]) => `${name}: { input: ${type}, output: ${type} }`)
    .join('\n  ')}
  ask: { input: { type: integer, format: int64 }, output: { $ref: "#/components/schemas/Order" } }
  trap: {}
  optional: { x-tenon-optional: true, output: { type: string } }
  required: { output: { type: string } }
  lieNumber: { output: { $ref: "#/components/schemas/Order" } }
  lieUtf8: { output: { type: string } }
  lieNothing: { output: { type: boolean } }
  lieLong: { output: { type: integer } }
  lieNull: { output: { $ref: "#/components/schemas/Order" } }
imports:
  look: { input: { type: integer, format: int64 }, output: { $ref: "#/components/schemas/Order" } }
components:
  schemas:
    Order:
      required: [items]
      properties:
        items: { items: { required: [price], properties: { price: { type: number } } } }
        id: { type: integer, format: uint64 }
        photo: { type: buffer }
        note: { type: string }
        __proto__: { type: string }
        constructor: { type: integer, format: int64 }
    Tree: { properties: { value: { type: integer, format: int64 }, kids: { items: { $ref: "#/components/schemas/Tree" } } } }
    Shape:
      oneOf: [{ $ref: "#/components/schemas/Circle" }, { $ref: "#/components/schemas/Group" }]
      discriminator: { propertyName: kind }
    Circle: { required: [kind], properties: { kind: { enum: [circle] }, radius: { type: integer, format: int64 } } }
    Group: { required: [kind], properties: { kind: { enum: [group] }, members: { items: { $ref: "#/components/schemas/Shape" } } } }
`),
);

type Calls = Record<string, (input?: unknown) => Promise<unknown>>;
type Imports = { look: (input: bigint) => unknown };

const lies = {
  lieNumber: '{"items":[{"price":1},{"price":2},{"price":3},{"price":"4"}]}',
  lieNothing: '',
  lieLong: '9007199254740993',
  lieNull: '{"items":[],"note":null,"extra":[9007199254740993]}',
};
const plain = assemble(Object.keys(types), lies);

function open(module: () => WebAssembly.Module = () => plain, look: Imports['look'] = () => ({ items: [] })) {
  const client = { load: async () => module() };
  const options: TypedPluginOptions<Imports> = { extensionPointId: 'ext_1', guestKey: 'acme', hostFunctions: { look } };
  return createTypedPlugin<Calls, Imports>(client, schema, options);
}

const plugin = open();
after(() => plugin[Symbol.asyncDispose]());

const call = async (name: string, input: unknown): Promise<unknown> => plugin[name]?.(input);

describe('createTypedPlugin()', () => {
  const values: readonly [type: string, ...values: unknown[]][] = [
    ['text', 'Ada', '', '😀 𐍈\0', '"quoted"', 'é'.repeat(300_000)],
    ['maybeText', 'Ada', null],
    ['bytes', new Uint8Array(), new Uint8Array([0, 255, 128]), new Uint8Array(1 << 20).fill(7)],
    ['maybeBytes', new Uint8Array([1]), null],
    ['flag', true, false],
    ['number', 0, -1.5, 1e308, Number.MIN_VALUE, 2 ** 64],
    ['integer', 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    ['byte', 0, 255],
    ['int64', 0n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n],
    ['uint64', 0n, 2n ** 64n - 1n],
    ['day', '2026-11-23T22:00:00.123456789Z'],
    ['word', 'a'],
    ['numberAsText', 7.25],
    ['any', {}, { a: [1, 'x', null, { b: true }], text: '12345678901234567890' }],
    ['map', { a: 2n ** 60n, constructor: 1n, toString: -1n }],
    ['order', { items: [], id: 2n ** 63n, photo: new Uint8Array(1 << 20).fill(3), note: '9007199254740993' }],
    ['tree', { value: 1n, kids: [{}, { kids: [{ value: 2n ** 62n }] }] }],
    ['shape', { kind: 'group', members: [{ kind: 'circle', radius: 2n ** 53n + 1n }, { kind: 'group' }] }],
  ];
  for (const [type, ...all] of values) {
    it(`returns each ${type} as it was given`, async () => {
      for (const value of all) assert.deepEqual(await call(type, value), value);
    });
  }

  it('keeps fields named as the prototype has them, and changes no prototype', async () => {
    const order = JSON.parse('{"items":[],"__proto__":"x"}');
    order.constructor = 5n;
    const returned = (await call('order', order)) as object;
    assert.deepEqual(Object.keys(returned).sort(), ['__proto__', 'constructor', 'items']);
    assert.equal(Object.getPrototypeOf(returned), Object.prototype);
    assert.equal(Object.getOwnPropertyDescriptor(returned, '__proto__')?.value, 'x');
    assert.equal(Object.getOwnPropertyDescriptor(returned, 'constructor')?.value, 5n);
  });

  const deep = (levels: number): object => (levels === 0 ? {} : { kids: [deep(levels - 1)] });
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const wrong: readonly [name: string, value: unknown, message: RegExp][] = [
    ['text', 7, /^text\.input: expected text, found 7$/],
    ['text', undefined, /^text\.input: expected text, found undefined$/],
    ['text', '\ud800', /^text\.input: expected well-formed text/],
    ['text', null, /^text\.input: expected text, found null$/],
    ['bytes', 'Ada', /^bytes\.input: expected a Uint8Array$/],
    ['number', Number.NaN, /^number\.input: expected a number, found NaN$/],
    ['number', Number.POSITIVE_INFINITY, /found Infinity$/],
    ['integer', 2 ** 53, /^integer\.input: expected an integer from -9007199254740991 to 9007199254740991/],
    ['integer', 1.5, /expected an integer, found 1\.5$/],
    ['byte', 256, /from 0 to 255, found 256$/],
    ['int64', 2 ** 60, /^int64\.input: expected a bigint/],
    ['int64', 2n ** 63n, /found 9223372036854775808$/],
    ['uint64', -1n, /from 0 to 18446744073709551615/],
    ['day', 'yesterday', /expected a date and time/],
    ['word', 'c', /expected one of "a", "b", found "c"$/],
    ['order', { items: [{ price: 1 }, {}] }, /^order\.input \/items\/1: expected the field "price", which is missing$/],
    ['order', { items: [{ price: 1 }, { price: 'x' }], id: -1n }, /^order\.input \/items\/1\/price: .*\(and 1 more\)$/],
    ['order', Object.create({ items: [] }), /expected the field "items", which is missing/],
    ['shape', { kind: 'square' }, /^shape\.input \/kind: expected one of "circle", "group", found "square"$/],
    [
      'shape',
      { kind: 'group', members: [{ kind: 'circle', radius: 'x' }] },
      /\/members\/0\/radius: expected an integer/,
    ],
    ['tree', deep(150), /is nested more than 200 deep/],
    ['any', cyclic, /^any\.input: is nested too deeply$/],
  ];
  for (const [name, value, message] of wrong) {
    it(`refuses an input with the path: ${message}`, async () => {
      await assert.rejects(
        call(name, value),
        (error) => error instanceof PluginValueError && message.test(error.message),
      );
    });
  }

  it('refuses outputs with the path, and works on', async () => {
    await assert.rejects(call('lieNumber', undefined), {
      name: 'PluginValueError',
      place: 'lieNumber.output',
      message: 'lieNumber.output /items/3/price: expected a number, found "4"',
      faults: [{ pointer: '/items/3/price', detail: 'expected a number, found "4"' }],
    });
    await assert.rejects(
      call('lieNothing', undefined),
      /^PluginValueError: lieNothing\.output: expected JSON, found no bytes$/,
    );
    await assert.rejects(call('lieLong', undefined), /expected an integer from/);
    assert.deepEqual(await call('lieNull', undefined), { items: [], extra: [Number(9007199254740993n)] });
    assert.equal(await call('text', 'still'), 'still');
  });

  it('passes typed values to host functions and back, and reports their faults', async () => {
    const seen: bigint[] = [];
    await using asking = open(undefined, (input) => {
      seen.push(input);
      return { items: [{ price: 1 }], id: input };
    });
    assert.deepEqual(await asking.ask?.(2n ** 53n + 1n), { items: [{ price: 1 }], id: 2n ** 53n + 1n });
    assert.deepEqual(seen, [2n ** 53n + 1n]);
    await using lying = open(undefined, () => ({ items: [{ price: '1' }] }));
    await assert.rejects(async () => lying.ask?.(1n), /look\.output \/items\/0\/price: expected a number/);
    await using late = open(undefined, async () => ({ items: [] }));
    await assert.rejects(async () => late.ask?.(1n), /returned a promise/);
    assert.throws(
      () =>
        open(undefined, undefined as never) &&
        createTypedPlugin({ load: async () => plain }, schema, {
          extensionPointId: 'e',
          guestKey: 'g',
          hostFunctions: {},
        } as never),
      /"hostFunctions" has no function "look"/,
    );
  });

  it('returns undefined for an optional export that the version lacks', async () => {
    assert.equal(await call('optional', undefined), undefined);
    await assert.rejects(call('required', undefined), /required/);
    await using having = open(() => assemble([], { optional: 'here' }));
    assert.equal(await having.optional?.(), 'here');
  });

  it('calls the version that is bound, one call after the other, and a new instance after an error', async () => {
    let module = assemble([], { required: 'one' });
    await using changing = open(() => module);
    assert.equal(await changing.required?.(), 'one');
    await assert.rejects(async () => changing.trap?.());
    assert.equal(await changing.required?.(), 'one');
    module = assemble([], { required: 'two' });
    assert.deepEqual(await Promise.all(Array.from({ length: 5 }, () => changing.required?.())), Array(5).fill('two'));
  });

  it('refuses calls after it is closed', async () => {
    const closing = open();
    assert.equal(await closing.text?.('x'), 'x');
    await closing[Symbol.asyncDispose]();
    await assert.rejects(async () => closing.text?.('x'), /closed/);
  });
});
