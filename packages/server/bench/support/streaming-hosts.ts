/** Hosts that follow the change feed of an extension point, in a process of their own: see `kill-switch.bench.ts`. */
import { connect, type Socket } from 'node:net';
import process from 'node:process';

/** What the hosts are to follow. */
export interface HostsOrder {
  /** A host each, with its stream and its requests at this port, for the list of this guest key. */
  readonly hosts: readonly { readonly port: number; readonly guestKey: string }[];
  readonly extensionPointId: string;
  readonly token: string;
  readonly plugin: string;
}

/** Asks for a report once each host's list has the plugin, or hasn't. */
export interface HostsQuestion {
  readonly isBound: boolean;
}

/** When each host got the list, by the clock of {@link machineMs}. */
export type HostsReport = readonly number[];

/** A monotonic clock that all processes of the machine share, in milliseconds. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Fetches its list when the stream is ready, and after each event that names it, as `@tenon/client` does. */
function openHost(
  { extensionPointId, token, plugin }: HostsOrder,
  { port, guestKey }: HostsOrder['hosts'][number],
  onList: (isBound: boolean) => void,
): void {
  const open = (onText: (text: string) => string, onEnd: () => void) => {
    let rest = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('utf8');
    socket.on('data', (text) => {
      rest = onText(rest + text);
    });
    socket.on('end', onEnd).on('error', fail);
    return socket;
  };
  const requestOf = (below: string): string =>
    `GET /api/v1/extension-points/${extensionPointId}${below} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n\r\n`;
  let lists: Socket | undefined;
  let isAsking = false;
  let isChanged = false;
  const ask = (): void => {
    if (!isAsking) {
      lists ??= open(onListText, () => {
        lists = undefined; // the server closes idle connections
      });
      lists.write(requestOf(`/bindings/${encodeURIComponent(guestKey)}`));
    }
    isChanged = isAsking;
    isAsking = true;
  };
  const onListText = (text: string): string => {
    const bodyAt = text.indexOf('\r\n\r\n') + 4;
    const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1]);
    if (bodyAt < 4) return text;
    if (!text.startsWith('HTTP/1.1 200 ') || Number.isNaN(length)) fail(text);
    if (text.length < bodyAt + length) return text;
    isAsking = false;
    onList(plugin in JSON.parse(text.slice(bodyAt)));
    if (isChanged) ask();
    return '';
  };
  const onEvents = (text: string): string => {
    const end = text.lastIndexOf('\n\n') + 2;
    const events = text.slice(0, end);
    if (/^event: (end|reset)$/m.test(events)) fail(events);
    if (events.includes(`"guestKey":${JSON.stringify(guestKey)}`) || events.includes('event: ready')) ask();
    return text.slice(end);
  };
  open(onEvents, () => fail('its stream ended')).write(requestOf('/changes'));
}

function fail(...reasons: unknown[]): never {
  console.error('A host failed:', ...reasons);
  process.exit(1);
}

function serveHosts(): void {
  let states: { isBound: boolean | undefined; atMs: number }[] = [];
  let question: HostsQuestion | undefined;
  const answer = (): void => {
    if (question === undefined || states.some(({ isBound }) => isBound !== question?.isBound)) return;
    question = undefined;
    const report: HostsReport = states.map(({ atMs }) => atMs);
    process.send?.(report);
  };
  process.on('message', (message: HostsOrder | HostsQuestion) => {
    if ('isBound' in message) question = message;
    else {
      states = message.hosts.map(() => ({ isBound: undefined, atMs: 0 }));
      for (const [at, host] of message.hosts.entries()) {
        openHost(message, host, (isBound) => {
          const state = states[at];
          if (state === undefined || state.isBound === isBound) return;
          states[at] = { isBound, atMs: machineMs() };
          answer();
        });
      }
    }
    answer();
  });
  process.on('disconnect', () => process.exit());
}

if (import.meta.main) serveHosts();
