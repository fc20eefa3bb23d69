import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../../../test/helpers/until.ts';
import { openMailServer, sendMails } from './helpers/mail-server.ts';
import { noPostgres, startPostgres } from './helpers/postgres.ts';
import { openService } from './helpers/service.ts';
import { makeApp, ok } from './helpers/world.ts';

const script = fileURLToPath(new URL('helpers/serve-child.ts', import.meta.url));
const mails = 60;

describe('a server that is killed while it sends mails', () => {
  it('loses none, and sends again only what was being sent, with the same Message-ID', async () => {
    const server = await openMailServer();
    const service = await openService({ config: { smtp: server.at } });
    const owner = await service.user();
    const appId = await makeApp(service, owner);
    const path = `/api/v1/apps/${appId}/guests`;
    for (let number = 0; number < mails; number++) {
      const json = { deliveryMethod: 'email', guestKey: `k-${number}`, email: `guest-${number}@example.org` };
      await ok(service, 'POST', path, { token: owner.token, json });
    }
    const env = {
      ...process.env,
      TENON_SMTP_URL: `smtp://localhost:${server.port}?from=tenon@example.com`,
      SERVE_CONSTANTS: JSON.stringify({ mailPollMs: 20, mailLeaseMs: 3000 }),
    };
    let kills = 0;
    let child: ChildProcess | undefined;
    const recipients = () => new Set(server.mails.map(({ recipient }) => recipient));
    try {
      while (recipients().size < mails) {
        const before = server.mails.length;
        child = spawn(process.execPath, [script, service.dataDir], { env, stdio: 'ignore' });
        await Promise.race([
          until(() => server.mails.length >= before + 8 || recipients().size === mails),
          sleep(15_000),
        ]);
        await sleep(Math.random() * 20);
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
        kills++;
      }
    } finally {
      child?.kill('SIGKILL');
    }
    const ids = Map.groupBy(server.mails, ({ recipient }) => recipient);
    for (const same of ids.values()) assert.equal(new Set(same.map(({ messageId }) => messageId)).size, 1);
    assert.ok(kills >= 4, String(kills));
    assert.ok(server.mails.length - mails <= kills, `${server.mails.length} mails, ${kills} kills`);
    await service.close();
    await server.close();
  });
});

describe('two nodes that send the mails of one PostgreSQL', { skip: noPostgres }, () => {
  it('send each mail once', async () => {
    const [server, postgres] = await Promise.all([openMailServer(), startPostgres()]);
    const { url: databaseUrl } = await postgres.createDatabase();
    const config = { smtp: server.at, databaseUrl, databaseConnections: 4 };
    const [here, there] = [await openService({ config }), await openService({ config })];
    const owner = await here.user();
    const appId = await makeApp(here, owner);
    for (let number = 0; number < mails; number++) {
      const json = { deliveryMethod: 'email', guestKey: `k-${number}`, email: `guest-${number}@example.org` };
      await ok(number % 2 === 0 ? here : there, 'POST', `/api/v1/apps/${appId}/guests`, { token: owner.token, json });
    }
    const counts = await Promise.all([here, there, here, there].map((node) => sendMails(node, server)));
    assert.equal(
      counts.reduce((sum, { sent }) => sum + sent, 0),
      mails,
    );
    assert.equal(server.mails.length, mails);
    assert.ok(counts.filter(({ sent }) => sent > 0).length > 1, 'more than one sent');
    await Promise.all([here.close(), there.close(), server.close()]);
    postgres.stop();
  });
});
