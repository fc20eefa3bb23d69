import { type ComparedCall, type SimulatedCall, simulationComparison, testResult } from '@tenon/protocol';
import { type Command, parseCount } from '../command.ts';
import { standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession } from '../project/plugin-session.ts';
import { verdictInWords } from '../testing/test-run.ts';
import { count, printable } from '../text.ts';
import { aboutVersion, comparedWith, type VersionReference } from './plugin-versions.ts';

/** Adds the commands about how a version behaves in the simulations of its extension point. */
export function addTestedCommands(group: Command, io: Io): void {
  aboutVersion(
    group
      .command('compare')
      .option('--against <number>', 'another version (default: the newest other one that is bound)', parseCount)
      .description("compare a version's behaviour with that of another version, in the extension point's simulations"),
  )
    .examples('tenon plugin compare greet@3', 'tenon plugin compare @3 --against 1 --json')
    .addHelpText('after', 'It lists the calls that differ: in output, error, or calls of host functions.')
    .action(callingForPlugin(io, compare));

  aboutVersion(
    group
      .command('test-result')
      .option('-o, --output <file>', 'a file; "-" writes to stdout', standardStream)
      .description("write the result of a version's newest test, as an in-toto statement"),
  )
    .examples('tenon plugin test-result greet@3', 'tenon plugin test-result @3 -o greet-3.intoto.json')
    .action(callingForPlugin(io, writeTestResult));
}

async function compare(
  session: PluginSession,
  options: PluginChoice & { readonly against?: number },
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const query = options.against === undefined ? '' : `?against=${options.against}`;
  const found = await api.get(`${place.path}/versions/${number}/comparison${query}`, simulationComparison);
  const { against, simulations } = found;
  out.result(found, () => {
    out.note(comparedWith(against));
    const rows = simulations.map(({ name, before, after, calls, isCut }) => {
      const differing = calls.filter(({ differs }) => differs).length;
      const shown = `${differing} of ${count(calls.length, 'call')}${isCut ? ', and more' : ''}`;
      return [
        name,
        before === null ? '-' : verdictInWords(before),
        verdictInWords(after),
        against === null ? '-' : shown,
      ];
    });
    out.table(['SIMULATION', 'BEFORE', 'AFTER', 'DIFFERING'], rows, 'The extension point has no simulation.');
    if (against === null) return;
    for (const { name, calls } of simulations) {
      for (const call of calls.filter(({ differs }) => differs)) out.write(formatCall(name, call));
    }
  });
}

function formatCall(simulation: string, { before, after, changes }: ComparedCall): string {
  const name = printable(`${simulation}: ${(after ?? before)?.export ?? ''}`);
  const what = changes.length === 0 ? '' : ` (${changes.join(', ').replaceAll('_', ' ')})`;
  return `${name}${what}\n  - ${resultOf(before)}\n  + ${resultOf(after)}\n`;
}

const maxShown = 200;

function resultOf(call: SimulatedCall | null): string {
  if (call === null) return 'not called';
  const text = call.error ?? call.output?.text ?? `base64 ${call.output?.base64 ?? ''}`;
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return printable(call.error === null ? JSON.stringify(shown) : `failed: ${shown}`);
}

async function writeTestResult(
  session: PluginSession,
  options: PluginChoice & { readonly output: string },
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, io, out, signal } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const statement = await api.get(`${place.path}/versions/${number}/test-result`, testResult);
  const text = `${JSON.stringify(statement, null, 2)}\n`;
  await writeOutput(io, options.output, Buffer.from(text), signal);
  if (options.output !== standardStream) out.note(`Wrote ${printable(options.output)}: ${statement.predicate.result}.`);
}
