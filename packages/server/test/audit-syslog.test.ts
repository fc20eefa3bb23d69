import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { pino } from 'pino';
import { until } from '../../../test/helpers/until.ts';
import { sealAuditEvents } from '../src/audit/seal.ts';
import { frame, maxMessageBytes, toSyslogMessage } from '../src/audit/syslog-message.ts';
import { startSyslogSender } from '../src/audit/syslog-sender.ts';
import { syslogUrl } from '../src/config/readers.ts';
import type { Store } from '../src/db/store.ts';
import { auditEvent } from './helpers/records.ts';
import { backend } from './helpers/stores.ts';

const link = { seq: 17, hash: 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M' };

describe('toSyslogMessage()', () => {
  it('follows RFC 5424, with ids and without names and guest keys', () => {
    const userId = newId('user');
    const event = auditEvent({
      action: 'version.yank',
      by: 'user',
      userId,
      userName: 'Ada Lovelace',
      viaName: 'Ada’s laptop',
      targetId: 'ext_x/plugin/usr_y/median',
      targetName: 'median',
      details: { reason: 'a "quoted" ] reason\\' },
      guestKeys: { [newId('guest')]: 'customers/globex' },
    });
    assert.equal(
      toSyslogMessage(event, link, 'node 1'),
      `<110>1 2026-05-17T09:30:15.123Z node?1 tenon - version.yank [tenon@32473 seq="17" hash="${link.hash}" ` +
        `id="${event.id}" by="user" userId="${userId}" targetKind="plugin" targetId="ext_x/plugin/usr_y/median" ` +
        `targetName="median" details="{\\"reason\\":\\"a \\\\\\"quoted\\\\\\" \\] reason\\\\\\\\\\"}"] ` +
        `\uFEFF${userId} yanked a version of the plugin ext_x/plugin/usr_y/median`,
    );
    const user = auditEvent({ action: 'sign_in.refuse', targetId: userId, targetName: 'Ada Lovelace' });
    const refused = toSyslogMessage(user, link, '');
    assert.ok(refused.startsWith('<108>1 ') && refused.includes('Z - tenon'), refused);
    assert.ok(!refused.includes('Ada'));
  });

  it('lets no text forge a line, a field, or a longer message', () => {
    const hostile = 'x"] y="z\\\n<0>1 \r\u0000\u2028\u202e\ud800\u200b';
    const event = auditEvent({ targetName: hostile, targetId: hostile, details: { [hostile]: hostile.repeat(9000) } });
    const message = toSyslogMessage(event, link, hostile);
    assert.doesNotMatch(message, /[\u0000-\u001f\u007f-\u009f\u2028\u202e\u200b]/);
    assert.ok(message.isWellFormed());
    assert.ok(Buffer.byteLength(message) <= maxMessageBytes);
    // Quotes and brackets are escaped within values: the data ends once.
    const data = /^(?:[^ ]+ ){6}\[tenon@32473(?: \w+="(?:[^"\\\]]|\\["\\\]])*")+\] \uFEFF/.exec(message);
    assert.ok(data !== null, message);
    const long = auditEvent({ details: { text: '€'.repeat(20_000) } });
    assert.ok(Buffer.byteLength(toSyslogMessage(long, link, 'n')) <= maxMessageBytes);
  });
});

describe('syslogUrl()', () => {
  it('reads servers, with default ports, and refuses others', () => {
    assert.deepEqual(syslogUrl('tls://logs.example.com'), { protocol: 'tls', host: 'logs.example.com', port: 6514 });
    assert.deepEqual(syslogUrl('udp://[::1]:99'), { protocol: 'udp', host: '::1', port: 99 });
    for (const wrong of [
      'logs:514',
      'http://x',
      'tcp://',
      'tcp://x:0',
      'tcp://x:70000',
      'tcp://u:p@x',
      'unix:///dev/log',
    ]) {
      assert.throws(() => syslogUrl(wrong), /must be a URL such as/, wrong);
    }
  });
});

describe('startSyslogSender()', () => {
  let store: Store;
  let location: string;
  let remove: () => Promise<void>;
  const clients = new Set<Socket>();
  let received: number[] = [];
  let isDeaf = false;
  const server = createServer((socket) => {
    clients.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('close', () => clients.delete(socket));
    socket.on('data', (bytes) => {
      if (isDeaf) return; // bytes that the operating system took, and that are lost
      text += bytes.toString('latin1');
      for (;;) {
        const length = /^(\d+) /.exec(text);
        if (length === null || text.length < length[0].length + Number(length[1])) return;
        const message = text.slice(length[0].length, length[0].length + Number(length[1]));
        received.push(Number(/ seq="(\d+)"/.exec(message)?.[1]));
        text = text.slice(length[0].length + Number(length[1]));
      }
    });
  });
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  beforeEach(async () => {
    ({ location, remove } = await backend.makeLocation());
    store = await backend.openStore(location);
    [received, isDeaf] = [[], false];
  });
  afterEach(async () => {
    await store.close();
    await remove();
  });

  const depsOf = (on: Store) => ({ store: on, clock: Date.now, random: randomBytes });
  const times = { pollMs: 5, settleMs: 30, maxPauseMs: 20 };
  const start = (on = store, port = (server.address() as AddressInfo).port) =>
    startSyslogSender({
      deps: depsOf(on),
      server: { protocol: 'tcp', host: '127.0.0.1', port },
      log: pino({ level: 'silent' }),
      times,
    });
  async function put(count: number): Promise<void> {
    await store.write((tx) => tx.insertAuditEvents(Array.from({ length: count }, () => auditEvent())));
    await sealAuditEvents(depsOf(store));
  }
  const stored = async () => (await store.read.auditPosition('syslog'))?.seq;
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

  it('begins with new events, sends all in order, and continues after a restart', async () => {
    await put(3);
    const first = start();
    await until(async () => (await stored()) === 3);
    await put(250);
    await until(async () => (await stored()) === 253);
    assert.deepEqual(received, upTo(253, 4));
    await first.stop();
    await put(5);
    const second = start();
    await until(() => received.includes(258));
    assert.deepEqual(received, upTo(258, 4));
    await second.stop();
  });

  it('sends again what may be lost with a connection, and waits for a server that is away', async () => {
    const sender = start();
    await until(async () => (await stored()) === 0);
    await put(2);
    await until(async () => (await stored()) === 2);
    isDeaf = true;
    await put(3);
    await until(() => sender.state.sent === 5);
    for (const client of clients) client.destroy();
    isDeaf = false;
    await until(() => received.includes(5));
    assert.deepEqual([...new Set(received)], upTo(5));
    await sender.stop();

    const { port } = server.address() as AddressInfo;
    const away = createServer();
    away.listen(0, '127.0.0.1');
    await once(away, 'listening');
    const closed = (away.address() as AddressInfo).port;
    await new Promise((resolve) => away.close(resolve));
    const failing = start(store, closed);
    await put(4);
    await until(() => !failing.state.isReachable && failing.state.lagEvents >= 4);
    await failing.stop();
    const again = start(store, port);
    await until(() => received.includes(9));
    await again.stop();
  });

  it('sends once with several nodes, in order, also when the sending one stops', async () => {
    const other = await backend.openStore(location);
    const senders = [start(), start(other)];
    await until(async () => (await stored()) === 0);
    await put(20);
    await until(async () => (await stored()) === 20);
    assert.deepEqual(received, upTo(20));
    await senders[0]?.stop();
    await put(5);
    await until(() => received.includes(25));
    assert.deepEqual(received, upTo(25));
    await senders[1]?.stop();
    await other.close();
  });
});

describe('frame()', () => {
  it('counts octets', () => {
    assert.equal(frame('é'), '2 é');
  });
});
