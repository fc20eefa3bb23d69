import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { describeModule, listProposals } from '@tenon/instrument';
import { isPluginName } from '@tenon/protocol';
import {
  checkModule,
  largestModule,
  type ModuleReaders,
  moduleSizeFault,
  pluginNameOf,
  preambleFault,
} from './check-module.ts';

const readers: ModuleReaders = { describeModule, listProposals, validate: (bytes) => WebAssembly.validate(bytes) };
const greet = new Uint8Array(readFileSync(new URL('../../../../server/sample/greet.wasm', import.meta.url)));
const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

describe('preambleFault()', () => {
  it('finds nothing wrong with a core module', () => {
    assert.equal(preambleFault(greet), undefined);
    assert.equal(preambleFault(Uint8Array.from(preamble)), undefined);
  });

  it('says of everything else what it is', () => {
    const said = (bytes: readonly number[]): string => preambleFault(Uint8Array.from(bytes)) ?? 'nothing';
    assert.match(said([]), /empty/);
    assert.match(said([...Buffer.from('<!doctype html>')]), /not a WebAssembly module/);
    assert.match(said(preamble.slice(0, 6)), /cut off/);
    assert.match(said([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), /a component/);
    assert.match(said([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0]), /version/);
  });
});

describe('moduleSizeFault()', () => {
  const none = { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true };
  const fault = (size: number, maxModuleBytes: number | null): string | undefined =>
    moduleSizeFault({ name: 'a.wasm', size }, largestModule(1_000, { limits: { ...none, maxModuleBytes } }));

  it('names both sizes, and whose limit it is', () => {
    assert.equal(fault(1_000, null), undefined);
    assert.equal(fault(1_000, 2_000), undefined);
    assert.match(
      fault(1_200, 2_000) ?? '',
      /^a\.wasm has 1\.17 KiB\. The server accepts modules of up to 1000 bytes\./,
    );
    assert.match(
      fault(900, 500) ?? '',
      /^a\.wasm has 900 bytes\. The extension point accepts modules of up to 500 bytes\./,
    );
  });
});

describe('checkModule()', () => {
  it('lists what a module exports and imports', () => {
    const check = checkModule(greet, readers);
    assert.ok(check.kind === 'module');
    assert.equal(check.isValid, true);
    assert.deepEqual(check.exports.toSorted(), ['count_vowels', 'greet']);
    assert.deepEqual([...check.imports.keys()], ['extism:host/env']);
    assert.equal(check.fault, undefined);
    assert.equal(check.module?.sizeBytes, greet.length);
    assert.ok(check.module?.exports.some(({ name, kind }) => name === 'greet' && kind === 'function'));
  });

  it('says what is wrong with one that is broken, and leaves it to the server', () => {
    const check = checkModule(greet.slice(0, -3), readers);
    assert.ok(check.kind === 'module');
    assert.equal(check.isValid, false);
    assert.match(check.fault ?? '', /offset/);
  });

  it('refuses what can be no module', () => {
    assert.equal(checkModule(new TextEncoder().encode('hello, world'), readers).kind, 'refused');
  });
});

describe('pluginNameOf()', () => {
  it('takes the folder and the extension away, and turns what names may not have into dashes', () => {
    const names: readonly (readonly [string, string])[] = [
      ['greet.wasm', 'greet'],
      ['target/wasm32-unknown-unknown/release/my_plugin.WASM', 'my_plugin'],
      ['C:\\plugins\\Median v2.wasm', 'Median-v2'],
      ['Größe (final).wasm', 'Gro-e-final'],
      ['café.wasm', 'cafe'],
      ['.hidden.wasm', 'hidden'],
      [`${'x'.repeat(120)}.wasm`, 'x'.repeat(100)],
    ];
    for (const [file, name] of names) {
      assert.equal(pluginNameOf(file), name);
      assert.ok(isPluginName(name), name);
    }
  });

  it('is empty where nothing of the name can stay', () => {
    assert.equal(pluginNameOf('図.wasm'), '');
  });
});
