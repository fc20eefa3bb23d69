import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type * as Extism from '@extism/extism';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../../test/helpers/wat.ts';
import { extismFunctions } from '../../src/extism.ts';
import { type Span, start } from '../../src/index.ts';

type ExtismHost = Pick<typeof Extism, 'createPlugin'>;

const greet = await readFile(new URL('../../../server/sample/greet.wasm', import.meta.url));

const trapping = wat(`(module
  (import "extism:host/env" "input_length" (func (result i64)))
  (func $trap (export "trap") (result i32) (unreachable))
  (func $work (export "work") (result i32) (i32.const 0)))`);

/** Traces one call of the sample plugin. */
async function traceCall(createPlugin: ExtismHost['createPlugin'], bytes: Uint8Array<ArrayBuffer>, useWasi = false) {
  const spans: Span[] = [];
  const trace = start(bytes, {
    spanFilter: { minDurationMicroseconds: 0 },
    statistics: true,
    exporters: [{ export: (batch: readonly Span[]) => void spans.push(...batch) }],
  });
  const plugin = await createPlugin({ wasm: [{ data: bytes }] }, { functions: extismFunctions(trace), useWasi });
  const answers = [await plugin.call('greet', 'Ada'), await plugin.call('greet', 'Bob')];
  await plugin.close();
  await trace.shutdown();
  return { answers: answers.map((answer) => answer?.text()), spans, statistics: trace.statistics() };
}

/** @param createPlugin that of a version of Extism */
export function describeExtismFunctions(name: string, { createPlugin }: ExtismHost): void {
  describe(`extismFunctions() in ${name}`, () => {
    it('traces the calls of an instrumented plugin', async () => {
      const { bytes } = instrument(greet);
      const { answers, spans, statistics } = await traceCall(createPlugin, new Uint8Array(bytes));
      assert.deepEqual(answers, ['Hello, Ada!', 'Hello, Bob!']);
      const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      assert.deepEqual(
        roots.map((span) => [span.name, span.status.code]),
        [
          ['say_hello', 'unset'],
          ['say_hello', 'unset'],
        ],
      );
      const [words] = spans.filter((span) => span.name === 'write_words');
      assert.equal(words?.parentSpanId, roots[0]?.spanId);
      const counted = statistics.functions.find((entry) => entry.function.rawName === 'say_hello');
      assert.equal(counted?.calls, 2);
      assert.equal(statistics.dropped.unmatched, 0);
    });

    it('ends the calls of a plugin that traps, and traces the next one', async () => {
      const { bytes } = instrument(trapping);
      const spans: Span[] = [];
      const exporters = [{ export: (batch: readonly Span[]) => void spans.push(...batch) }];
      const trace = start(bytes, { exporters });
      const data = new Uint8Array(bytes);
      const plugin = await createPlugin({ wasm: [{ data }] }, { functions: extismFunctions(trace) });
      await assert.rejects(plugin.call('trap'));
      await plugin.call('work');
      await plugin.close();
      await trace.shutdown();
      const ended = spans.map((span) => [span.name, span.status.code]);
      assert.deepEqual(ended, [
        ['trap', 'error'],
        ['work', 'unset'],
      ]);
    });

    it('leaves a plugin alone that is not instrumented', async () => {
      const { answers, spans } = await traceCall(createPlugin, new Uint8Array(greet));
      assert.deepEqual([answers, spans], [['Hello, Ada!', 'Hello, Bob!'], []]);
    });
  });
}
