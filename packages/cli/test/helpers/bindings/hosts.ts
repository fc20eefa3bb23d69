import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

/* Hosts that call a generated plugin. */

const run = promisify(execFile);
const { createPlugin } = createRequire(import.meta.url)('@extism/extism') as typeof import('@extism/extism');

export interface Call {
  readonly name: string;
  readonly input: string | Uint8Array;
}

export type Result = { readonly output: Buffer } | { readonly error: string };
export type Host = (folder: string, calls: readonly Call[]) => Promise<Result[]>;

type Current = {
  read(block: bigint): { text(): string; bytes(): Uint8Array };
  store(data: string | Uint8Array): bigint;
};

/** Calls a module in Extism. */
export const inExtism =
  (module = 'plugin.wasm'): Host =>
  async (folder, calls) => {
    const functions = {
      reflect: (call: Current, block: bigint) => call.store(call.read(block).text()),
      blob: (call: Current, block: bigint) => call.store(call.read(block).bytes()),
      note: () => {},
      pick: (call: Current) => call.store('delete'),
    };
    const plugin = await createPlugin(
      { wasm: [{ data: await readFile(join(folder, module)) }] },
      { functions: { 'extism:host/user': functions as never } },
    );
    const results: Result[] = [];
    for (const { name, input } of calls) {
      try {
        const output = await plugin.call(name, input);
        results.push({ output: Buffer.from(output?.bytes() ?? []) });
      } catch (error) {
        results.push({ error: (error as Error).message });
      }
    }
    await plugin.close();
    return results;
  };

const goDriver = `package main

import (
	"encoding/json"
	"os"
	"testing"
)

func TestCalls(t *testing.T) {
	importedHostReflect = func(input uint64) uint64 { return input }
	importedHostBlob = importedHostReflect
	importedHostNote = func(input uint64) {}
	importedHostPick = func() uint64 { return Store([]byte("delete")) }
	exports := map[string]func() int32{
		"echo": exportEcho, "echoText": exportEchoText, "echoBytes": exportEchoBytes, "echoEnum": exportEchoEnum,
		"echoNumber": exportEchoNumber, "echoList": exportEchoList, "nan": exportNan, "tick": exportTick, "viaHost": exportViaHost,
	}
	var calls []struct {
		Name  string
		Input []byte
	}
	data, _ := os.ReadFile("calls.json")
	if err := json.Unmarshal(data, &calls); err != nil {
		t.Fatal(err)
	}
	results := make([]map[string][]byte, len(calls))
	for at, call := range calls {
		kernel.input, kernel.output, kernel.err = call.Input, nil, nil
		if exports[call.Name]() == 0 {
			results[at] = map[string][]byte{"output": kernel.output}
		} else {
			results[at] = map[string][]byte{"error": kernel.err}
		}
	}
	data, _ = json.Marshal(results)
	os.WriteFile("results.json", data, 0o644)
}
`;

/** Calls Go outside WebAssembly, with the template's kernel for tests. */
export const inGo: Host = async (folder, calls) => {
  await writeFile(join(folder, 'driver_test.go'), goDriver);
  const written = calls.map(({ name, input }) => ({ name, input: Buffer.from(input).toString('base64') }));
  await writeFile(join(folder, 'calls.json'), JSON.stringify(written));
  await run('go', ['test', './...'], {
    cwd: folder,
    env: { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
  });
  const results: { output?: string; error?: string }[] = JSON.parse(
    await readFile(join(folder, 'results.json'), 'utf8'),
  );
  return results.map(({ output, error }) =>
    error === undefined
      ? { output: Buffer.from(output ?? '', 'base64') }
      : { error: Buffer.from(error, 'base64').toString() },
  );
};

/** What extism-js offers to JavaScript, as far as the bindings need it. */
const prelude = `
const blocks = [null];
const block = (bytes) => ({ offset: blocks.push(bytes) - 1, readString: () => decode(bytes), readBytes: () => bytes });
const encode = (text) => Uint8Array.from(unescape(encodeURIComponent(text)), (unit) => unit.charCodeAt(0)).buffer;
const decode = (bytes) => {
  let text = '';
  for (let at = 0, all = new Uint8Array(bytes); at < all.length; at += 4096) text += String.fromCharCode.apply(null, all.subarray(at, at + 4096));
  return decodeURIComponent(escape(text));
};
globalThis.Memory = { fromString: (text) => block(encode(text)), fromBuffer: block, find: (at) => block(blocks[at]) };
globalThis.Host = {
  inputString: () => decode(globalThis.input),
  inputBytes: () => globalThis.input,
  outputString: (text) => { globalThis.output = encode(text); },
  outputBytes: (bytes) => { globalThis.output = bytes; },
  getFunctions: () => ({ reflect: (at) => at, blob: (at) => at, note: () => {}, pick: () => Memory.fromString('delete').offset }),
};
globalThis.module = { exports: {} };
`;

/** Calls the bundle in QuickJS, the engine of extism-js. */
export const inQuickJs: Host = async (folder, calls) => {
  const { getQuickJS } = await import('quickjs-emscripten');
  const context = (await getQuickJS()).newContext();
  const evaluate = (code: string) => {
    const result = context.evalCode(code);
    if (result.error === undefined) return result.value;
    const error = context.dump(result.error);
    result.error.dispose();
    throw new Error(error.message);
  };
  evaluate(prelude).dispose();
  evaluate(await readFile(join(folder, 'dist', 'plugin.js'), 'utf8')).dispose();
  const results = calls.map(({ name, input }): Result => {
    const bytes = Uint8Array.from(Buffer.from(input));
    const given = context.newArrayBuffer(bytes.buffer);
    context.setProp(context.global, 'input', given);
    given.dispose();
    try {
      const output = evaluate(
        `globalThis.output = new ArrayBuffer(0); module.exports[${JSON.stringify(name)}](); output`,
      );
      const view = context.getArrayBuffer(output);
      const copy = Buffer.from(view.value);
      view.dispose();
      output.dispose();
      return { output: copy };
    } catch (error) {
      return { error: (error as Error).message };
    }
  });
  context.dispose();
  return results;
};
