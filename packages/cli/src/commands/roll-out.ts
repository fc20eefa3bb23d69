import { type RollOut, rollOutListStates, rollOut as rollOutSchema } from '@tenon/protocol';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type Command, withApp, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession } from '../project/plugin-session.ts';
import { resolveApp } from '../resolve.ts';
import { formatHalt, formatStep, formatSteps } from '../roll-out-plan.ts';
import { calling, type Session } from '../session.ts';
import { count, formatNumber, formatTime, printable } from '../text.ts';
import { aboutVersion, type VersionReference } from './plugin-versions.ts';

/** Adds the commands for staged roll-outs. */
export function addRollOutCommands(program: Command, io: Io): void {
  const group = program.command('roll-out').description('versions that reach the guests step by step');

  group
    .command('list')
    .addOption(new Option('--state <state>', 'list only those in the state').choices(rollOutListStates))
    .use(withApp, withLimit, withServer)
    .description("list an application's roll-outs, newest first")
    .examples('tenon roll-out list --state open', "tenon roll-out list --json | jq -r '.[].state'")
    .action(calling(io, list));

  aboutVersion(
    group.command('show').description("show a version's roll-out: its steps, its share, and what it waits for"),
  )
    .examples('tenon roll-out show greet@3', 'tenon roll-out show @3 --json')
    .action(callingForPlugin(io, show));

  aboutVersion(
    group.command('pause').description('stop the time of a roll-out; guests keep the version that they have'),
  )
    .examples('tenon roll-out pause greet@3')
    .action(callingForPlugin(io, act('pause', 'Paused')));

  aboutVersion(group.command('resume').description('continue a roll-out that was paused or halted'))
    .examples('tenon roll-out resume greet@3')
    .action(callingForPlugin(io, act('resume', 'Resumed')));

  aboutVersion(
    group
      .command('promote')
      .option('--full', 'go to all guests, rather than to the next step')
      .description('go to the next step now, or after the last one to all guests'),
  )
    .examples('tenon roll-out promote greet@3', 'tenon roll-out promote greet@3 --full')
    .action(callingForPlugin(io, promote));

  aboutVersion(
    group
      .command('abort')
      .requiredOption('--reason <text>', 'the reason, shown with the version')
      .description('end a roll-out: the version is yanked, and all guests get the version before'),
  )
    .examples('tenon roll-out abort greet@3 --reason "Rounds the totals down"')
    .action(callingForPlugin(io, abort));
}

async function list(
  session: Session,
  options: ListOptions & { readonly app?: string; readonly state?: string },
): Promise<void> {
  const app = await resolveApp(session, options.app);
  const filter = options.state === undefined ? '' : `?state=${options.state}`;
  await showList(session, options, path`/api/v1/apps/${app}/roll-outs` + filter, rollOutSchema, {
    headings: ['PLUGIN', 'VERSION', 'STATE', 'STEP', 'GUESTS', 'NEXT STEP', 'STARTED', 'ID'],
    row: (rollOut) => [
      rollOut.pluginId.split('/').at(-1) ?? '',
      String(rollOut.version),
      rollOut.state,
      stepOf(rollOut),
      shareOf(rollOut),
      rollOut.nextStepAt === null ? '-' : formatTime(rollOut.nextStepAt),
      formatTime(rollOut.startedAt),
      rollOut.pluginId,
    ],
    whenEmpty: 'There are no roll-outs.',
  });
}

async function placeOf(session: PluginSession, options: PluginChoice, { plugin, number }: VersionReference) {
  const place = await findPlugin(session, options, plugin, 'team');
  return { name: place.name, path: `${place.path}/versions/${number}/roll-out` };
}

async function show(session: PluginSession, options: PluginChoice, version: VersionReference): Promise<void> {
  const { api, out } = session;
  const rollOut = await api.get((await placeOf(session, options, version)).path, rollOutSchema);
  out.result(rollOut, () => out.fields(fieldsOf(rollOut)));
}

function fieldsOf(rollOut: RollOut): (readonly [string, string])[] {
  const { pluginId, version, previousVersion, state, reason, plan, stepAt, nextStepAt, waitsForReports } = rollOut;
  const { startedAt, endedAt } = rollOut;
  const present = plan?.steps[rollOut.step];
  return [
    ['plugin', pluginId],
    ['version', previousVersion === null ? String(version) : `${version}, after version ${previousVersion}`],
    ['state', state],
    ...(reason === null ? [] : [['reason', printable(reason)] as const]),
    ...(plan === null
      ? []
      : ([
          ['steps', formatSteps(plan)],
          ['halt', formatHalt(plan.halt)],
        ] as const)),
    ['step', present === undefined ? stepOf(rollOut) : `${stepOf(rollOut)}: ${formatStep(present)}`],
    // While it is halted, only pinned guests have the version.
    [
      'guests',
      `${shareOf(rollOut)}${state === 'halted' && rollOut.reachedGuests > 0 ? ', which are pinned to it' : ''}`,
    ],
    ...(stepAt === null ? [] : [['step since', formatTime(stepAt)] as const]),
    ...(nextStepAt === null ? [] : [['next step', formatTime(nextStepAt)] as const]),
    ...(waitsForReports === null
      ? []
      : [['waits for', `reports: ${waitsForReports.calls} of ${waitsForReports.minCalls} calls`] as const]),
    ...(startedAt === null ? [] : [['started', formatTime(startedAt)] as const]),
    ...(endedAt === null ? [] : [['ended', formatTime(endedAt)] as const]),
  ];
}

function act(action: 'pause' | 'resume', done: string) {
  return async (session: PluginSession, options: PluginChoice, version: VersionReference): Promise<void> => {
    const { name, path } = await placeOf(session, options, version);
    report(session, done, name, await session.api.send('POST', `${path}/${action}`, undefined, rollOutSchema));
  };
}

async function promote(
  session: PluginSession,
  options: PluginChoice & { readonly full?: boolean },
  version: VersionReference,
): Promise<void> {
  const { name, path } = await placeOf(session, options, version);
  const body = { full: options.full === true };
  report(session, 'Promoted', name, await session.api.send('POST', `${path}/promote`, body, rollOutSchema));
}

async function abort(
  session: PluginSession,
  options: PluginChoice & { readonly reason: string },
  version: VersionReference,
): Promise<void> {
  const { name, path } = await placeOf(session, options, version);
  const body = { reason: options.reason };
  report(session, 'Aborted', name, await session.api.send('POST', `${path}/abort`, body, rollOutSchema));
}

function report({ out }: PluginSession, done: string, name: string, rollOut: RollOut): void {
  const { version, state } = rollOut;
  out.result(rollOut, () =>
    out.note(`${done} version ${version} of ${name}: ${state}, ${stepOf(rollOut)}, ${shareOf(rollOut)}.`),
  );
}

function stepOf({ step, steps }: RollOut): string {
  return steps === 0 ? 'all at once' : `step ${Math.min(step + 1, steps)} of ${steps}`;
}

function shareOf({ reachedGuests, totalGuests }: RollOut): string {
  return `${formatNumber(reachedGuests)} of ${count(totalGuests, 'guest')}`;
}
