import {
  approval as approvalSchema,
  extensionPoint as extensionPointSchema,
  guestBinding as guestBindingSchema,
  plugin as pluginSchema,
  type Version,
  version as versionSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { findPlugin, type PluginChoice, type PluginPlace } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession } from '../project/plugin-session.ts';
import { resolveApp, resolveGuest } from '../resolve.ts';
import { type PlanOptions, planField } from '../roll-out-plan.ts';
import { calling, type Session } from '../session.ts';
import { count, countGuests, formatSize, formatTime, printable, shellWord } from '../text.ts';
import { aboutPlugin, aboutVersion, assertVersion, type VersionReference, withReleasePlan } from './plugin-versions.ts';

/** Decisions of the application's team about plugins. */
export function addControlCommands(group: Command, io: Io): void {
  group.commandsGroup("For the application's team:");
  aboutVersion(
    withReleasePlan(
      group.command('approve').description('approve a version that awaits approval, so that it is bound'),
    ),
  )
    .examples(
      'tenon plugin approve greet@3',
      'tenon plugin approve ext_01j29…/plugin/usr_01j29…/greet@3',
      'tenon plugin approve greet@3 --roll-out 1%:1h,10%:1d,100% --halt errors=2%',
    )
    .action(callingForPlugin(io, approve));

  aboutVersion(
    group
      .command('reject')
      .requiredOption('--reason <text>', 'the reason, shown to the publisher')
      .description('reject a version that awaits approval, permanently')
      .use(withConfirmation),
  )
    .examples('tenon plugin reject greet@3 --reason "Imports a clock, which we do not offer"')
    .action(callingForPlugin(io, reject));

  aboutVersion(
    group
      .command('release')
      .requiredOption('--reason <text>', 'the reason, for the audit trail')
      .description('publish a version that waits for its minimum age now')
      .use(withReleasePlan),
  )
    .examples('tenon plugin release greet@3 --reason "Fixes the wrong totals"')
    .action(callingForPlugin(io, release));

  addPinCommands(group, io);

  aboutPlugin(
    group
      .command('block')
      .requiredOption('--reason <text>', 'the reason, shown to the publisher')
      .description('block a plugin: it is unbound everywhere and accepts no new version'),
  )
    .examples('tenon plugin block greet --reason "Sends what it reads to a third party"')
    .action(callingForPlugin(io, block));

  aboutPlugin(group.command('unblock').description('undo a block: the plugin is bound again'))
    .examples('tenon plugin unblock greet')
    .action(callingForPlugin(io, unblock));
}

function addPinCommands(group: Command, io: Io): void {
  const withGuest = (command: Command) =>
    command.option(
      '--guest <guest>',
      'only for this guest, by guest key or id (default: every guest that it is bound for)',
    );

  aboutVersion(
    group
      .command('pin')
      .description('bind one version until you unpin it, despite publishes and rollbacks')
      .use(withGuest),
  )
    .examples('tenon plugin pin greet@2', 'tenon plugin pin greet@2 --guest customers/42')
    .action(callingForPlugin(io, pin));

  aboutPlugin(
    group.command('unpin').description("remove a pin, so that the publisher's version is bound").use(withGuest),
  )
    .examples('tenon plugin unpin greet')
    .action(callingForPlugin(io, unpin));
}

/** Adds `tenon app approvals`. */
export function addApprovalsCommand(group: Command, io: Io): void {
  group
    .command('approvals')
    .description('list the versions that await approval, oldest first')
    .use(withApp, withLimit, withServer)
    .examples('tenon app approvals', "tenon app approvals --json | jq -r '.[].pluginId'")
    .action(calling(io, listApprovals));
}

async function approve(
  session: PluginSession,
  options: PluginChoice & PlanOptions,
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const plan = planField(options);
  const place = await findPlugin(session, options, named, 'team');
  const body = plan.rollOut === undefined ? undefined : plan;
  const version = await api.send('POST', `${place.path}/versions/${number}/approve`, body, versionSchema);
  out.result(version, () =>
    out.note(
      version.state === 'cooling_down'
        ? `Approved version ${number} of ${place.name}. It is published at ${formatTime(version.releaseAt ?? '')}.`
        : `Approved version ${number} of ${place.name}. ${activity(version)}`,
    ),
  );
}

async function release(
  session: PluginSession,
  options: PluginChoice & PlanOptions & { reason: string },
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const body = { reason: options.reason, ...planField(options) };
  const place = await findPlugin(session, options, named, 'team');
  const version = await api.send('POST', `${place.path}/versions/${number}/release`, body, versionSchema);
  out.result(version, () => out.note(`Released version ${number} of ${place.name}. ${activity(version)}`));
}

function activity({ boundGuestIds, hasMoreGuests }: Version): string {
  return `It is active for ${countGuests(boundGuestIds, hasMoreGuests)} now.`;
}

async function reject(
  session: PluginSession,
  options: PluginChoice & { reason: string; yes?: boolean },
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, io, out } = session;
  const place = await findPlugin(session, options, named, 'team');
  await confirm(io, `Version ${number} of ${place.name} will be rejected for good.`, options);
  const body = { reason: options.reason };
  const version = await api.send('POST', `${place.path}/versions/${number}/reject`, body, versionSchema);
  out.result(version, () => out.note(`Rejected version ${number} of ${place.name}.`));
}

async function block(
  session: PluginSession,
  options: PluginChoice & { reason: string },
  named?: string,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'team');
  const plugin = await api.send('PUT', `${place.path}/block`, { reason: options.reason }, pluginSchema);
  out.result(plugin, () => out.note(`Blocked ${place.name}. ${printable(plugin.status.detail)}`));
}

async function unblock(session: PluginSession, options: PluginChoice, named?: string): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'team');
  await api.remove(`${place.path}/block`);
  const plugin = await api.get(place.path, pluginSchema);
  out.result(plugin, () => out.note(`Unblocked ${place.name}. ${printable(plugin.status.detail)}`));
}

interface PinOptions extends PluginChoice {
  readonly guest?: string;
}

async function pin(
  session: PluginSession,
  options: PinOptions,
  { plugin: named, number: version }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'team');
  const pinned = [];
  for (const guest of await guestsOf(session, place, options)) {
    const sent = api.send('PUT', pinPath(place, guest), { version }, guestBindingSchema);
    pinned.push(await assertVersion(sent, version, place));
  }
  out.result(pinned, () =>
    out.note(`Pinned ${place.name} to version ${version} under ${count(pinned.length, 'guest')}.`),
  );
}

async function unpin(session: PluginSession, options: PinOptions, named?: string): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'team');
  for (const guest of await guestsOf(session, place, options)) await api.remove(pinPath(place, guest));
  const plugin = await api.get(place.path, pluginSchema);
  out.result(plugin, () => out.note(`Unpinned ${place.name}. ${printable(plugin.status.detail)}`));
}

async function guestsOf({ api }: Session, place: PluginPlace, options: PinOptions): Promise<string[]> {
  const { status } = await api.get(place.path, pluginSchema);
  const guests = status.bindings.map(({ guestId }) => guestId as string);
  if (options.guest === undefined) return guests;
  const { appId } = await api.get(path`/api/v1/extension-points/${place.extensionPoint}`, extensionPointSchema);
  const guest = await resolveGuest({ api }, appId, options.guest);
  if (guests.includes(guest)) return [guest];
  throw usageError(`${place.name} is not published under ${guest}.`, `It is under ${guests.join(', ') || 'no guest'}.`);
}

function pinPath({ extensionPoint, name }: PluginPlace, guest: string): string {
  return path`/api/v1/extension-points/${extensionPoint}/guests/${guest}/pins/${name}`;
}

async function listApprovals(session: Session, options: ListOptions & { app?: string }): Promise<void> {
  const [first] = await showList(
    session,
    options,
    path`/api/v1/apps/${await resolveApp(session, options.app)}/approvals`,
    approvalSchema,
    {
      headings: [
        'PLUGIN',
        'VERSION',
        'EXTENSION POINT',
        'PUBLISHED BY',
        'GUESTS',
        'SIZE',
        'PUBLISHED',
        'ID',
        'NOTE',
        'SIMILAR TO',
      ],
      row: ({ name, version, extensionPoint, user, guests, pluginId, similarPlugins }) => [
        name,
        `${version.number}${version.semver === null ? '' : ` (${version.semver})`}`,
        extensionPoint.name,
        user.name,
        [
          ...guests.map(({ guestKey }) => guestKey),
          ...(version.guestIds.length > guests.length ? [`${version.guestIds.length - guests.length} more`] : []),
        ].join(', '),
        formatSize(version.size),
        formatTime(version.createdAt),
        pluginId,
        version.note ?? '',
        similarPlugins.map((other) => `${other.name} (${other.user.name})`).join(', '),
      ],
      whenEmpty: 'Nothing awaits approval.',
    },
  );
  if (first !== undefined) {
    const { pluginId, version } = first;
    session.out.note(`To approve the first: tenon plugin approve ${shellWord(`${pluginId}@${version.number}`)}`);
  }
}
