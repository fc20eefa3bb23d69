import {
  type AuditAction,
  auditActionsOf,
  createdWebhook,
  type Webhook,
  type WebhookDelivery,
  webhookActions,
  webhookDelivery,
  webhookOverlapHours,
  webhookReplayed,
  webhook as webhookSchema,
} from '@tenon/protocol';
import { InvalidArgumentError, Option } from 'commander';
import { path } from '../api.ts';
import { parseMoment } from '../audit-options.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { count, formatTime, printable } from '../text.ts';

/** How often and how long `test` looks for the result, in milliseconds. */
const pollMs = 500;
const waitMs = 30_000;

interface AppOptions {
  readonly app?: string;
}

interface FieldOptions extends AppOptions {
  readonly description?: string;
  readonly action?: readonly AuditAction[];
}

interface UpdateOptions extends FieldOptions {
  readonly url?: string;
  readonly allActions?: boolean;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

/** Adds the commands for webhooks. */
export function addWebhookCommands(program: Command, io: Io): void {
  const group = program.command('webhook').description("send an application's audit events to URLs");

  group
    .command('create')
    .argument('<url>', 'an https URL')
    .use(withFields, withApp, withServer)
    .description('create a webhook, and show its secret once')
    .examples(
      'tenon webhook create https://chat.example.org/hooks/tenon',
      'tenon webhook create https://ci.example.org/hook --action plugin.publish --action version.approve',
    )
    .action(calling(io, create));

  group
    .command('list')
    .description("list an application's webhooks")
    .use(withApp, withLimit, withServer)
    .examples('tenon webhook list', 'tenon webhook list --app Editor --json')
    .action(calling(io, list));

  group
    .command('show')
    .use(withWebhook, withApp, withServer)
    .description('show a webhook')
    .examples('tenon webhook show whk_01j29hxk3…')
    .action(calling(io, show));

  group
    .command('update')
    .use(withWebhook)
    .option('--url <url>', 'the new URL')
    .use(withFields)
    .addOption(new Option('--all-actions', 'send the events of all actions').conflicts('action'))
    .option('--enable', 'send events from now on')
    .addOption(new Option('--disable', 'send no events').conflicts('enable'))
    .use(withApp, withServer)
    .description('change, enable, or disable a webhook')
    .examples('tenon webhook update whk_01j29hxk3… --enable', 'tenon webhook update whk_01j29hxk3… --all-actions')
    .action(calling(io, update));

  group
    .command('delete')
    .use(withWebhook, withConfirmation, withApp, withServer)
    .description('delete a webhook with its secrets and its log')
    .examples('tenon webhook delete whk_01j29hxk3… --yes')
    .action(calling(io, remove));

  group
    .command('rotate-secret')
    .use(withWebhook)
    .option(
      '--overlap <hours>',
      `how long the previous secrets still sign; 0 deletes them at once (default: ${webhookOverlapHours.default})`,
      parseHours,
    )
    .use(withApp, withServer)
    .description('create a secret that replaces the present ones, and show it once')
    .examples('tenon webhook rotate-secret whk_01j29hxk3…', 'tenon webhook rotate-secret whk_01j29hxk3… --overlap 0')
    .action(calling(io, rotate));

  group
    .command('test')
    .use(withWebhook, withApp, withServer)
    .description('send a test event, and wait for the response')
    .examples('tenon webhook test whk_01j29hxk3…')
    .action(calling(io, test));

  group
    .command('deliveries')
    .use(withWebhook)
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(['pending', 'delivered', 'failed']),
    )
    .use(withApp, withLimit, withServer)
    .description('list the deliveries of a webhook, the newest first')
    .examples('tenon webhook deliveries whk_01j29hxk3… --state failed --limit 20')
    .action(calling(io, deliveries));

  group
    .command('replay')
    .use(withWebhook)
    .argument('[delivery]', 'one delivery, whd_…')
    .option(
      '--since <time>',
      'all failed deliveries since this time: 2026-03-01T12:00Z, or a time ago: 12h, 7d',
      (text) => parseMoment(text, io.clockMs()),
    )
    .use(withApp, withServer)
    .description('send a delivery again, or all failed ones since a time')
    .examples('tenon webhook replay whk_01j29hxk3… whd_01j29hz8k…', 'tenon webhook replay whk_01j29hxk3… --since 12h')
    .action(calling(io, replay));
}

function withWebhook(command: Command): Command {
  return command.argument('<webhook>', 'its id, whk_…');
}

function withFields(command: Command): Command {
  return command
    .option('--description <text>', 'a text for the team')
    .option(
      '--action <action>',
      'send only events of this audit action, such as plugin.publish; may come several times (default: all)',
      parseAction,
    );
}

function parseAction(text: string, before: readonly AuditAction[] = []): readonly AuditAction[] {
  const action = webhookActions.find((one) => one === text);
  if (action !== undefined) return [...before, action];
  const [group] = text.split('.');
  const near = auditActionsOf('app').filter((one) => one.startsWith(`${group}.`));
  const hint =
    near.length > 0 ? `Those of ${group} are ${near.join(', ')}.` : 'The reference of the audit trail lists them.';
  throw new InvalidArgumentError(`There is no such action. ${hint}`);
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (/^\d{1,3}$/.test(text) && hours <= webhookOverlapHours.max) return hours;
  throw new InvalidArgumentError(`It is a number of hours from 0 to ${webhookOverlapHours.max}.`);
}

async function webhooksPath(session: Session, { app }: AppOptions): Promise<string> {
  return path`/api/v1/apps/${await resolveApp(session, app)}/webhooks`;
}

async function webhookPath(session: Session, options: AppOptions, id: string): Promise<string> {
  return `${await webhooksPath(session, options)}${path`/${id}`}`;
}

async function create(session: Session, options: FieldOptions, url: string): Promise<void> {
  const { api, out } = session;
  const { description, action: actions } = options;
  const made = await api.send(
    'POST',
    await webhooksPath(session, options),
    { url, description, actions },
    createdWebhook,
  );
  out.note(`Created ${made.id}. Its secret is shown only once:`);
  out.result(made, () => out.write(`${printable(made.secret)}\n`));
}

async function list(session: Session, options: ListOptions & AppOptions): Promise<void> {
  await showList(session, options, await webhooksPath(session, options), webhookSchema, {
    headings: ['ID', 'URL', 'STATE', 'ACTIONS', 'DESCRIPTION'],
    row: (webhook) => [webhook.id, webhook.url, stateOf(webhook), actionsOf(webhook), webhook.description ?? ''],
    whenEmpty: 'There are no webhooks. Create one with `tenon webhook create`.',
  });
}

async function show(session: Session, options: AppOptions, id: string): Promise<void> {
  const { api, out } = session;
  report(session, await api.get(await webhookPath(session, options, id), webhookSchema));
  out.note('For its log: `tenon webhook deliveries`.');
}

function report({ out }: Session, webhook: Webhook): void {
  out.result(webhook, () =>
    out.fields([
      ['id', webhook.id],
      ['url', printable(webhook.url)],
      ['description', printable(webhook.description ?? '')],
      ['state', stateOf(webhook)],
      ['actions', actionsOf(webhook)],
      [
        'secrets',
        webhook.secrets.map(
          ({ id, createdAt, expiresAt }) =>
            `${id}, created ${formatTime(createdAt)}${expiresAt === null ? '' : `, signs until ${formatTime(expiresAt)}`}`,
        ),
      ],
    ]),
  );
}

async function update(session: Session, options: UpdateOptions, id: string): Promise<void> {
  const { url, description, allActions, enable, disable } = options;
  const actions = allActions ? null : options.action;
  const isEnabled = enable ? true : disable ? false : undefined;
  const fields = { url, description: description === '' ? null : description, actions, isEnabled };
  if (Object.values(fields).every((field) => field === undefined)) {
    throw usageError('What should change? Use --url, --description, --action, --all-actions, --enable, or --disable.');
  }
  report(session, await session.api.send('PUT', await webhookPath(session, options, id), fields, webhookSchema));
}

async function remove(session: Session, options: AppOptions & { readonly yes?: boolean }, id: string): Promise<void> {
  const { api, io, out } = session;
  const place = await webhookPath(session, options, id);
  await confirm(io, `The webhook ${id} gets no events any more, and its log is deleted.`, options);
  await api.remove(place);
  out.result({ deleted: id }, () => out.note(`Deleted ${id}.`));
}

async function rotate(
  session: Session,
  options: AppOptions & { readonly overlap?: number },
  id: string,
): Promise<void> {
  const { api, out } = session;
  const place = `${await webhookPath(session, options, id)}/secrets`;
  const made = await api.send('POST', place, { overlapHours: options.overlap }, createdWebhook);
  const until = made.secrets[1]?.expiresAt;
  if (until) out.note(`The previous secret signs until ${formatTime(until)}.`);
  out.note('The new secret is shown only once:');
  out.result(made, () => out.write(`${printable(made.secret)}\n`));
}

async function test(session: Session, options: AppOptions, id: string): Promise<void> {
  const { api, io, out } = session;
  const place = await webhookPath(session, options, id);
  const queued = await api.send('POST', `${place}/test`, undefined, webhookDelivery);
  const untilMs = io.clockMs() + waitMs;
  const delivery = await io.interruptible(async (signal) => {
    for (let found = queued; ; ) {
      if (found.attemptedAt !== null || io.clockMs() > untilMs) return found;
      await io.sleep(pollMs, signal);
      const { entries } = await api.first(`${place}/deliveries`, webhookDelivery, 100);
      found = entries.find((one) => one.id === queued.id) ?? found;
    }
  });
  out.result(delivery, () => out.note(`${delivery.id}: ${resultOf(delivery)}.`));
  if (delivery.state === 'delivered') return;
  throw new CliError('test_failed', 'The receiver did not accept the test.', {
    hint: 'Read `tenon webhook deliveries`.',
  });
}

async function deliveries(
  session: Session,
  options: ListOptions & AppOptions & { readonly state?: string },
  id: string,
): Promise<void> {
  const filter = options.state === undefined ? '' : `?state=${options.state}`;
  await showList(session, options, `${await webhookPath(session, options, id)}/deliveries${filter}`, webhookDelivery, {
    headings: ['ID', 'TYPE', 'STATE', 'RESULT', 'ATTEMPTS', 'QUEUED', 'NEXT ATTEMPT'],
    row: (one) => [
      one.id,
      one.type,
      one.state,
      resultOf(one),
      String(one.attempts),
      formatTime(one.createdAt),
      one.nextAttemptAt === null ? '' : formatTime(one.nextAttemptAt),
    ],
    whenEmpty: 'There are no deliveries.',
  });
}

async function replay(
  session: Session,
  options: AppOptions & { readonly since?: Date },
  id: string,
  delivery: string | undefined,
): Promise<void> {
  const { api, out } = session;
  const place = await webhookPath(session, options, id);
  if ((delivery === undefined) === (options.since === undefined)) {
    throw usageError('Name one delivery, or use --since for all failed ones since a time.');
  }
  if (delivery !== undefined) {
    const queued = await api.send(
      'POST',
      `${place}/deliveries${path`/${delivery}/replay`}`,
      undefined,
      webhookDelivery,
    );
    out.result(queued, () => out.note(`Queued ${queued.id} again.`));
    return;
  }
  let replayed = 0;
  for (let hasMore = true; hasMore; ) {
    const done = await api.send('POST', `${place}/replay`, { since: options.since?.toISOString() }, webhookReplayed);
    replayed += done.replayed;
    hasMore = done.hasMore;
  }
  out.result({ replayed }, () => out.note(`Queued ${count(replayed, 'delivery', 'deliveries')} again.`));
}

function stateOf({ state }: Webhook): string {
  if (state === 'gone') return 'disabled: the receiver is gone';
  return state === 'failing' ? 'disabled: failed for days' : state;
}

function actionsOf({ actions }: Webhook): string {
  return actions === null ? 'all' : actions.join(' ');
}

function resultOf({ status, error, attemptedAt, durationMs, state }: WebhookDelivery): string {
  if (error === 'expired' || error === 'disabled') return error;
  if (attemptedAt === null) return state === 'pending' ? 'no attempt yet' : '';
  const result = status === null ? (error ?? '') : String(status);
  return `${result} after ${durationMs ?? 0} ms`;
}
