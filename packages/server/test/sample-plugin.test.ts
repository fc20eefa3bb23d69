import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import createPlugin from '@extism/extism';
import wabt from 'wabt';

const binary = new URL('../sample/greet.wasm', import.meta.url);

async function call(name: string, input: string): Promise<string> {
  const plugin = await createPlugin({ wasm: [{ data: await readFile(binary) }] }, { useWasi: false });
  try {
    const output = await plugin.call(name, input);
    return output?.text() ?? '';
  } finally {
    await plugin.close();
  }
}

describe('greet.wasm', () => {
  it('equals the assembled greet.wat', async () => {
    const source = new URL('../sample/greet.wat', import.meta.url);
    const { parseWat } = await wabt();
    const module = parseWat('greet.wat', await readFile(source, 'utf8'));
    const { buffer } = module.toBinary({ write_debug_names: true });
    module.destroy();
    assert.deepEqual(new Uint8Array(await readFile(binary)), buffer);
  });
});

describe('greet()', () => {
  for (const name of ['Ada', '', 'exactly8', 'Grace Hopper', 'Zoë 🦀 Müller', 'x'.repeat(10_000)]) {
    it(`greets ${JSON.stringify(name.slice(0, 20))} (${Buffer.byteLength(name)} bytes) in the Extism runtime`, async () => {
      assert.equal(await call('greet', name), `Hello, ${name}!`);
    });
  }
});

describe('count_vowels()', () => {
  for (const [text, count] of [
    ['', 0],
    ['Hello, World!', 3],
    ['AEIOU aeiou', 10],
    ['rhythm [{@`', 0],
    ['a'.repeat(1234), 1234],
  ] as const) {
    it(`counts ${count} in ${JSON.stringify(text.slice(0, 20))}`, async () => {
      assert.equal(await call('count_vowels', text), `{"count":${count}}`);
    });
  }
});
