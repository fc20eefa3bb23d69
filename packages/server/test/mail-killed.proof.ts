import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { killServers } from './helpers/kill-servers.ts';
import { openMailServer, sendMails } from './helpers/mail-server.ts';
import { noPostgres } from './helpers/postgres.ts';
import { openService } from './helpers/service.ts';
import { openTwoNodes } from './helpers/two-nodes.ts';
import { makeApp, ok } from './helpers/world.ts';

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
    const recipients = () => new Set(server.mails.map(({ recipient }) => recipient));
    const kills = await killServers({
      dataDir: service.dataDir,
      environment: {
        TENON_SMTP_URL: `smtp://localhost:${server.port}?from=tenon@example.com`,
        SERVE_CONSTANTS: JSON.stringify({ mailPollMs: 20, mailLeaseMs: 3000 }),
      },
      count: () => server.mails.length,
      isDone: () => recipients().size === mails,
      step: 8,
    });
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
    const server = await openMailServer();
    const {
      nodes: [here, there],
      close,
    } = await openTwoNodes({ smtp: server.at });
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
    await Promise.all([close(), server.close()]);
  });
});
