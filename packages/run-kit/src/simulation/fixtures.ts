import { parseJson } from '@tenon/extension-schema/json';
import { componentsOf, describeValueFault, validateBytes } from '@tenon/extension-schema/validate-value';
import type { Fixture } from '@tenon/protocol';
import type { HostFunctions } from './host-functions.ts';
import { listedCalls } from './host-functions.ts';
import { bytesOf, equalBytes, shownBytes, shownValue } from './host-values.ts';
import { jsonDifference } from './json-subset.ts';
import { messageOf } from './module.ts';
import type { CallResult, PluginUnderTest } from './plugin-under-test.ts';
import type { ReportBuilder } from './report.ts';
import { textOf } from './text.ts';

type Expectation = Fixture['expect'];

/**
 * Calls the plugin as each fixture describes, on a new instance, and reports an assertion for each expectation, in a group
 * with the fixture's name. A fixture without `hostCalls` uses the mock host, if there is one.
 */
export function runFixtures(
  fixtures: readonly Fixture[],
  withHostFunctions: (host: HostFunctions) => PluginUnderTest,
  mockHost: HostFunctions | undefined,
  schema: unknown,
  report: ReportBuilder,
): void {
  for (const [index, fixture] of fixtures.entries()) {
    const group = fixture.name ?? `${fixture.export} ${index + 1}`;
    const assert = (name: string, fault: string | undefined) =>
      report.assert({ group, name, passed: fault === undefined, reason: fault ?? null });
    let input: Uint8Array;
    try {
      input = bytesOf(fixture.inputBase64 === undefined ? (fixture.input ?? '') : { base64: fixture.inputBase64 });
    } catch (error) {
      assert('input', messageOf(error));
      continue;
    }
    const isMocked = fixture.hostCalls === undefined && mockHost !== undefined;
    const listed = isMocked ? undefined : listedCalls(fixture.hostCalls, schema);
    const plugin = withHostFunctions(listed ?? (mockHost as HostFunctions));
    const outcome = callOnce(plugin, fixture.export, input);
    const difference = listed?.difference();
    const checks = checkOutcome(outcome, fixture, schema);
    // A call of the host that is not listed makes the plugin's call fail, which must not fulfil `fails`.
    for (const [name, fault] of checks) assert(name, name === 'fails' ? (fault ?? difference) : fault);
    if (fixture.hostCalls !== undefined || difference !== undefined) assert('hostCalls', difference);
  }
}

function callOnce(plugin: PluginUnderTest, exportName: string, input: Uint8Array): CallResult['outcome'] {
  try {
    return plugin.call(exportName, input).outcome;
  } finally {
    plugin.reset();
  }
}

function checkOutcome(
  outcome: CallResult['outcome'],
  { export: exportName, expect }: Fixture,
  schema: unknown,
): [name: string, fault: string | undefined][] {
  if (typeof expect.fails === 'string' || expect.fails === true) return [['fails', failsFault(outcome, expect.fails)]];
  if ('error' in outcome) return [['succeeds', `the call failed: ${outcome.error}`]];
  const { output } = outcome;
  const checks: [string, string | undefined][] = [];
  if (expect.equals !== undefined) checks.push(['equals', equalsFault(output, expect.equals)]);
  if (expect.jsonSubset !== undefined) checks.push(['jsonSubset', subsetFault(output, expect.jsonSubset)]);
  if (expect.matchesSchema === true) checks.push(['matchesSchema', schemaFault(output, exportName, schema)]);
  return checks.length === 0 ? [['succeeds', undefined]] : checks;
}

function failsFault(outcome: CallResult['outcome'], expected: string | true): string | undefined {
  if ('output' in outcome) return `expected the call to fail; it returned ${shownBytes(outcome.output)}`;
  if (expected === true || outcome.error.includes(expected)) return undefined;
  return `expected an error with ${shownValue(expected)}, the error is ${shownValue(outcome.error)}`;
}

function equalsFault(output: Uint8Array, expected: NonNullable<Expectation['equals']>): string | undefined {
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(expected);
  } catch (error) {
    return messageOf(error);
  }
  if (equalBytes(output, bytes)) return undefined;
  const at = output.findIndex((byte, index) => byte !== bytes[index]);
  const place = at > 100 ? `, different from byte ${at} on` : '';
  return `expected ${shownBytes(bytes)}, found ${shownBytes(output)}${place}`;
}

function subsetFault(output: Uint8Array, expected: unknown): string | undefined {
  const text = textOf(output);
  let actual: unknown;
  try {
    actual = parseJson(text ?? '');
  } catch {
    return `expected JSON, found ${shownBytes(output)}`;
  }
  return jsonDifference(actual, expected);
}

function schemaFault(output: Uint8Array, exportName: string, schema: unknown): string | undefined {
  const { exports } = (schema ?? {}) as { readonly exports?: Readonly<Record<string, { readonly output?: unknown }>> };
  const declared =
    exports !== undefined && Object.hasOwn(exports, exportName) ? exports[exportName]?.output : undefined;
  if (declared === undefined) return `the schema declares no output of ${exportName}`;
  const faults = validateBytes(output, declared, componentsOf(schema));
  return faults.length === 0 ? undefined : faults.slice(0, 5).map(describeValueFault).join('; ');
}
