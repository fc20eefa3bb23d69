import type { Environment } from '../environment.ts';
import { createCacheFolder } from './cache-folder.ts';
import type { ConformanceCase } from './case.ts';
import { type ClientProcess, type ShownState, startClient } from './client-process.ts';
import type { ClientSetting } from './client-setting.ts';
import { openFakeServer } from './fake-server.ts';
import type { Module } from './modules.ts';
import { Nonconformity } from './nonconformity.ts';
import { openStrangers } from './strangers.ts';

/** How often a condition is checked. */
const pollMs = 20;

/** Runs a case on a stage of its own. @throws Nonconformity */
export async function runOnStage(
  conformanceCase: ConformanceCase,
  setting: ClientSetting,
  signal: AbortSignal,
  onClient: (client: ClientProcess) => void,
): Promise<void> {
  const { io, timeoutMs } = setting;
  const { guestKey = 'customers/acme', basePath } = conformanceCase;
  const { nowMs, randomBytes } = io;
  const token = `tnn_conformance_${Buffer.from(randomBytes(18)).toString('base64url')}`;
  const extensionPointId = 'ext_01j29hxk3mfpq8ad68ha6hbsex';
  const server = await openFakeServer({ extensionPointId, token, basePath, nowMs, randomBytes });
  const strangers = await openStrangers();
  const cache = createCacheFolder();
  let current: ClientProcess | undefined;
  let currentKey = guestKey;

  const client = (): ClientProcess => {
    if (current === undefined) throw new Error('The case has not started a client');
    return current;
  };

  async function start(options: { guestKey?: string; cacheFolder?: string } = {}): Promise<void> {
    await current?.kill();
    currentKey = options.guestKey ?? guestKey;
    current = await startClient({
      ...setting.command,
      environment: {
        ...withoutTenon(setting.command.environment),
        TENON_URL: server.url,
        TENON_TOKEN: token,
        TENON_EXTENSION_POINT_ID: extensionPointId,
        TENON_GUEST_KEY: currentKey,
        TENON_CACHE_DIR: options.cacheFolder ?? cache.folder,
      },
    });
    onClient(current);
  }

  /** What holds in every case. */
  function assertInvariants(): void {
    const { states, stderr, faults, ending } = client();
    const found = [...server.violations, ...faults, ...strangers.violations(token)];
    if (stderr.includes(token)) found.push('it wrote the token to stderr');
    for (const state of states) {
      for (const [name, address] of state) {
        if (!server.wasBound(currentKey, name, address)) {
          found.push(`it showed ${JSON.stringify({ [name]: address })}, which was never in the list of its guest key`);
        } else if (!server.requests.some((request) => request.kind === 'content' && request.name === address)) {
          found.push(`it showed ${JSON.stringify({ [name]: address })}, whose content it had not fetched`);
        }
      }
    }
    if (ending !== undefined) found.push(`it ended (${ending})`);
    if (found[0] !== undefined) throw new Nonconformity(found[0]);
  }

  async function until(action: string, isMet: (client: ClientProcess) => boolean): Promise<void> {
    for (const deadline = nowMs() + timeoutMs; ; await io.sleep(pollMs, signal)) {
      assertInvariants();
      if (isMet(client())) return;
      if (nowMs() > deadline) {
        throw new Nonconformity(
          `within ${timeoutMs / 1000} s, it did not ${action}; it shows ${shown(client().state)}`,
        );
      }
    }
  }

  const changeList = (change: (list: Map<string, Module>) => void) => {
    const list = new Map(server.listOf(guestKey));
    change(list);
    server.setList(guestKey, list);
  };
  const bind = (...names: readonly string[]) =>
    changeList((list) => {
      for (const name of names) list.set(name, server.createModule());
    });
  const showsList = () => {
    const wanted = new Map([...server.listOf(currentKey)].map(([name, { address }]) => [name, address]));
    return until(`show ${shown(wanted)}`, ({ state }) => isSame(state, wanted));
  };

  try {
    await conformanceCase.run({
      io,
      server,
      strangers,
      guestKey,
      cache,
      bind,
      unbind: (name) => changeList((list) => list.delete(name)),
      publish(...names) {
        bind(...names);
        server.feed.emitBinding(guestKey);
      },
      start,
      async begin() {
        await start();
        await showsList();
        if (!setting.without.has('streaming')) await until('open a stream', () => server.feed.openStreams > 0);
      },
      kill: () => client().kill(),
      showsList,
      until,
      check(isMet, fault) {
        if (!isMet) throw new Nonconformity(`it ${fault}`);
      },
      async pause(ms) {
        for (const deadline = nowMs() + ms; nowMs() < deadline; await io.sleep(pollMs, signal)) assertInvariants();
      },
      requests: (kind, name) =>
        server.requests.filter((request) => request.kind === kind && (name === undefined || request.name === name)),
      isWithout: (feature) => setting.without.has(feature),
      client,
    });
    assertInvariants();
  } finally {
    await current?.kill();
    await Promise.all([server.close(), strangers.close()]);
    cache.remove();
  }
}

/** The variables of this machine's logins and servers are not the client's. */
function withoutTenon(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TENON_')));
}

function isSame(state: ShownState | undefined, wanted: ShownState): boolean {
  if (state === undefined || state.size !== wanted.size) return false;
  return [...wanted].every(([name, address]) => state.get(name) === address);
}

const maxShownChars = 300;

function shown(state: ShownState | undefined): string {
  if (state === undefined) return 'nothing';
  const text = JSON.stringify(Object.fromEntries(state));
  return text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text;
}
