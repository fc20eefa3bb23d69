import { createEventParser } from '@tenon/client/event-stream';
import { type ChangeEventName, changeEvents, type ErrorCode, errorCodes } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import { InvalidArgumentError } from 'commander';
import { path } from '../api.ts';
import { type Command, withApp, withServer } from '../command.ts';
import { CliError } from '../errors.ts';
import { exitCodeOfStatus, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { resolveApp, resolveExtensionPoint } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

interface ChangesOptions {
  readonly app?: string;
  readonly extensionPoint?: string;
  readonly since?: string;
  readonly count?: number;
}

export function addChangesCommand(program: Command, io: Io): void {
  program
    .command('changes')
    .description('show which binding lists change, until interrupted')
    .use(withApp)
    .option('-e, --extension-point <extension-point>', 'only the lists of this extension point')
    .option('--since <id>', 'start after the event with this id, which --json shows')
    .option('--count <number>', 'stop after this many changes', parseCount)
    .use(withServer)
    .examples(
      'tenon changes',
      'tenon changes --count 1 && echo "something was published"',
      'tenon changes --json | jq --unbuffered -r \'select(.event == "binding").guestKey\'',
    )
    .action(calling(io, showChanges));
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number, 1 or more.');
  return Number(text);
}

/** The delay before the first retry; it doubles up to the maximum. */
const shortestWaitMs = 1_000;
const longestWaitMs = 30_000;

/** An event of a stream that this version knows. */
interface ChangeEvent {
  readonly event: ChangeEventName;
  readonly id: string;
  readonly data: Readonly<Record<string, string>>;
}

async function showChanges(session: Session, options: ChangesOptions): Promise<void> {
  const { out, io, signal } = session;
  const changesPath =
    options.extensionPoint === undefined
      ? path`/api/v1/apps/${await resolveApp(session, options.app)}/changes`
      : path`/api/v1/extension-points/${await resolveExtensionPoint(session, options.extensionPoint)}/changes`;
  let lastId = options.since ?? '';
  let left = options.count ?? Number.POSITIVE_INFINITY;
  let isConnected = false;
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      for await (const change of follow(session, changesPath, lastId)) {
        lastId = change.id;
        if (change.event === 'ready' && !isConnected) out.note('Waiting for changes. Ctrl-C ends it.');
        isConnected = true;
        waitMs = shortestWaitMs;
        show(session, change);
        if ((change.event === 'binding' || change.event === 'deleted') && --left === 0) return;
      }
    } catch (error) {
      // Before it has once begun, what is wrong is for the user to see to.
      if (!isConnected || !(error instanceof CliError) || error.exitCode !== exitCodes.unavailable) throw error;
      out.note(`${printable(error.message)} Retrying in ${waitMs / 1000} s.`);
    }
    await io.sleep(waitMs, signal);
  }
}

/** The events of one connection, until it ends. @throws CliError when the server ends it, with the reason */
async function* follow({ api }: Session, changesPath: string, lastId: string): AsyncGenerator<ChangeEvent> {
  const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
  const { chunks } = await api.download(changesPath, headers);
  const parser = createEventParser(lastId);
  for await (const chunk of chunks) {
    for (const { type, data: text, id } of parser.push(chunk)) {
      if (!Object.hasOwn(changeEvents, type)) continue; // a newer server's
      const event = type as ChangeEventName;
      const data = parseData(event, text);
      if (event === 'end') throw ended(data);
      yield { event, id, data };
    }
  }
}

function parseData(event: ChangeEventName, text: string): ChangeEvent['data'] {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {}
  if (isValid(changeEvents[event], data)) return data as ChangeEvent['data'];
  throw new CliError('unexpected_response', 'The change feed is invalid.', {
    hint: 'Is this the URL of a Tenon server of about the same version?',
  });
}

function ended({ code = '', detail = '' }: ChangeEvent['data']): CliError {
  const { status } = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode] : errorCodes.unavailable;
  return new CliError(code, detail, { exitCode: exitCodeOfStatus(status) });
}

function show({ out, io }: Session, { event, id, data }: ChangeEvent): void {
  if (out.isJson) {
    out.write(`${JSON.stringify({ event, id, ...data })}\n`);
    return;
  }
  const time = out.style.dim(formatTime(new Date(io.clockMs()).toISOString()));
  const { extensionPointId = '', guestKey = '', userId = '', pluginName = '' } = data;
  if (event === 'binding') out.write(`${time}  ${extensionPointId}  ${printable(guestKey)}\n`);
  if (event === 'plugin')
    out.write(`${time}  ${extensionPointId}  attestations of ${userId}/${printable(pluginName)}\n`);
  if (event === 'deleted') out.write(`${time}  ${extensionPointId}  deleted, with all of its lists\n`);
  if (event === 'reset') out.warn('Changes were missed, and the server has not kept them: any list may have changed.');
}
