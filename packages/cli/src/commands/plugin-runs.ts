import { type SimulationRun, simulationRun } from '@tenon/protocol';
import type { Command } from '../command.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession } from '../project/plugin-session.ts';
import { awaitRun, fetchRuns } from '../project/version-verdict.ts';
import { showReport } from '../testing/show-report.ts';
import { exitCodeOfVerdict, verdictInWords } from '../testing/test-run.ts';
import { formatTime, printable } from '../text.ts';
import { aboutVersion, type VersionReference } from './plugin-versions.ts';

export function addRunCommands(group: Command, io: Io): void {
  aboutVersion(group.command('runs').description('show the runs of the simulations of a version, newest first'))
    .examples('tenon plugin runs greet@3', "tenon plugin runs @3 --json | jq -r '.[0].verdict'")
    .addHelpText('after', 'It shows the results of the newest run in full.')
    .action(callingForPlugin(io, showRuns));

  aboutVersion(
    group
      .command('rerun')
      .option('--no-wait', "don't wait for the verdict")
      .description('run the simulations of a version again; a failed version that passes is published'),
  )
    .examples('tenon plugin rerun greet@3')
    .addHelpText('after', 'The exit codes are those of tenon plugin test.')
    .action(callingForPlugin(io, rerun));
}

async function showRuns(
  session: PluginSession,
  options: PluginChoice,
  { plugin, number }: VersionReference,
): Promise<void> {
  const { out } = session;
  const place = await findPlugin(session, options, plugin, 'publisher');
  const runs = await fetchRuns(session, place.path, number);
  out.result(runs, () => {
    out.table(
      ['STATE', 'VERDICT', 'ATTEMPTS', 'ENDED', 'NEXT ATTEMPT', 'DETAIL'],
      runs.map(rowOf),
      'It was published without simulations.',
    );
    const [newest] = runs;
    if (newest === undefined || newest.verdict === null) return;
    out.write('\n');
    showReport(out, { verdict: newest.verdict, simulations: newest.simulations });
  });
}

function rowOf({ state, verdict, attempts, endedAt, nextAttemptAt, detail }: SimulationRun): string[] {
  return [
    state,
    verdict === null ? '-' : verdictInWords(verdict),
    String(attempts),
    endedAt === null ? '-' : formatTime(endedAt),
    nextAttemptAt === null ? '-' : formatTime(nextAttemptAt),
    detail ?? '',
  ];
}

async function rerun(
  session: PluginSession,
  options: PluginChoice & { readonly wait: boolean },
  { plugin, number }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, plugin, 'publisher');
  const started = await api.send('POST', `${place.path}/versions/${number}/simulation-runs`, undefined, simulationRun);
  const run = options.wait ? await awaitRun(session, place.path, number, started) : started;
  const { verdict, simulations, detail } = run;
  out.result(run, () => {
    if (verdict === null) out.note(`The simulations of version ${number} run.`);
    else showReport(out, { verdict, simulations });
  });
  if (verdict === null || verdict === 'passed') return;
  const why = detail === null ? '' : ` ${printable(detail)}`;
  const words = verdict === 'none_configured' ? 'has no simulations' : verdictInWords(verdict);
  throw new CliError(`simulation_${verdict}`, `Version ${number} of ${place.name}: ${words}.${why}`, {
    exitCode: exitCodeOfVerdict[verdict],
  });
}
