import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { newId } from '@tenon/protocol';
import { pino } from 'pino';
import { until } from '../../../test/helpers/until.ts';
import { sealAuditEvents } from '../src/audit/seal.ts';
import { startSyslogSender } from '../src/audit/syslog-sender.ts';
import type { SyslogServer } from '../src/config/readers.ts';
import { auditEvent } from './helpers/records.ts';
import { backend } from './helpers/stores.ts';

const program = '/usr/sbin/rsyslogd';
const modules = '/usr/lib/x86_64-linux-gnu/rsyslog';
const skip = existsSync(program) ? false : 'there is no rsyslogd';

/** Debian's rsyslog receives the trail, and parses it. */
describe('rsyslog', { skip }, () => {
  for (const protocol of ['tcp', 'udp', 'tls'] as const) {
    const needsTls = protocol === 'tls' && !existsSync(join(modules, 'lmnsd_gtls.so'));
    it(`parses every event over ${protocol}`, { skip: needsTls && 'there is no rsyslog-gnutls' }, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'tenon-rsyslog-'));
      t.after(() => rm(folder, { recursive: true, force: true }));
      const port = await freePort();
      const file = join(folder, 'out');
      await startRsyslog(folder, protocol, port, file, t);
      const { location, remove } = await backend.makeLocation();
      const store = await backend.openStore(location);
      const deps = { store, clock: Date.now, random: randomBytes };
      const server: SyslogServer = { protocol, host: 'localhost', port };
      const times = { pollMs: 20, settleMs: 200, maxPauseMs: 100 };
      const sender = startSyslogSender({ deps, server, log: pino({ level: 'silent' }), times });
      t.after(async () => {
        await sender.stop();
        await store.close();
        await remove();
      });
      await until(async () => (await store.read.auditPosition('syslog')) !== undefined);
      const hostile = 'a "name" with \\ ] = [ and\na new line, é 👩‍🚀';
      const events = Array.from({ length: 30 }, (_, at) =>
        auditEvent({ targetName: at % 2 === 0 ? hostile : null, address: '2001:db8::1', details: { hostile, at } }),
      );
      const guest = newId('guest');
      events.push(auditEvent({ userName: 'Ada Lovelace', guestKeys: { [guest]: 'customers/globex' } }));
      await store.write((tx) => tx.insertAuditEvents(events));
      await sealAuditEvents(deps);
      const lines = async () => (existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : []);
      await until(async () => (await lines()).length >= events.length);
      const text = await readFile(file, 'utf8');
      assert.ok(!text.includes('Lovelace') && !text.includes('globex'));
      const byId = new Map(events.map((event) => [event.id as string, event]));
      const links = await store.read.auditLinks(0, 100);
      for (const [at, line] of (await lines()).entries()) {
        const { app, msgid, data } = JSON.parse(line);
        const fields = JSON.parse(data)['tenon@32473'];
        const event = byId.get(fields.id);
        assert.ok(event, line);
        assert.deepEqual([app, msgid, Number(fields.seq)], ['tenon', event.action, at + 1]);
        assert.equal(fields.hash, links[at]?.link.hash);
        assert.equal(fields.details, JSON.stringify(event.details).replaceAll('\u200d', '\uFFFD'));
        assert.equal(fields.targetName, event.targetName?.replaceAll(/[\n\u200d]/g, '\uFFFD'));
      }
    });
  }
});

async function startRsyslog(
  folder: string,
  protocol: SyslogServer['protocol'],
  port: number,
  file: string,
  t: { after(work: () => Promise<void>): void },
): Promise<void> {
  const listen: string[] = [];
  if (protocol === 'udp') {
    listen.push('module(load="imudp")', `input(type="imudp" address="127.0.0.1" port="${port}")`);
    listen.push(`input(type="imudp" address="::1" port="${port}")`);
  } else {
    const stream =
      protocol === 'tls' ? ' StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.Authmode="anon"' : '';
    listen.push(`module(load="imtcp"${stream})`, `input(type="imtcp" port="${port}")`);
  }
  if (protocol === 'tls') {
    const names = { key: join(folder, 'key.pem'), certificate: join(folder, 'cert.pem') };
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', names.key, '-out'];
    assert.equal(spawnSync('openssl', [...made, names.certificate, ...subject]).status, 0);
    const files = ['CAFile', 'CertFile'].map((name) => `DefaultNetstreamDriver${name}="${names.certificate}"`);
    listen.unshift(`global(${files.join(' ')} DefaultNetstreamDriverKeyFile="${names.key}")`);
    setDefaultCACertificates([await readFile(names.certificate, 'utf8')]);
  }
  const configuration = [
    `global(workDirectory="${folder}" maxMessageSize="8k" parser.parseHostnameAndTag="on")`,
    ...listen,
    'module(load="mmpstrucdata")',
    'template(name="json" type="list" option.jsonf="on") {',
    '  property(outname="app" name="app-name" format="jsonf")',
    '  property(outname="msgid" name="msgid" format="jsonf")',
    '  property(outname="data" name="$!rfc5424-sd" format="jsonf")',
    '}',
    'action(type="mmpstrucdata" sd_name.lowercase="off")',
    `action(type="omfile" file="${file}" template="json")`,
  ];
  const path = join(folder, 'rsyslog.conf');
  await writeFile(path, `${configuration.join('\n')}\n`);
  const child = spawn(program, ['-n', '-f', path, '-i', join(folder, 'pid')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await until(() => existsSync(join(folder, 'pid')));
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0);
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
