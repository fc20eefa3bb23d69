import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServerStatus } from '@tenon/protocol';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { start } from './helpers/binary.ts';
import { tenon } from './helpers/streams.ts';

it('tenon whoami names the application of the token, or all of them', async () => {
  const server = await startInProcessServer();
  const { TENON_TOKEN = '', TENON_APP_ID = '' } = server.quickstart;
  const environment = { TENON_URL: server.url, TENON_TOKEN };
  assert.match((await tenon(['whoami'], { environment })).stdout, /^works in +all applications$/m);
  const token = (await tenon(['token', 'create', 'one', '--app', TENON_APP_ID], { environment })).stdout.trim();
  const own = { environment: { ...environment, TENON_TOKEN: token } };
  assert.match((await tenon(['whoami'], own)).stdout, new RegExp(`^works in +${TENON_APP_ID}$`, 'm'));
  await server.stop();
});

describe('tenon status', () => {
  let server: InProcessServer;
  let environment: Record<string, string>;
  before(async () => {
    server = await startInProcessServer();
    environment = { TENON_URL: server.url, TENON_TOKEN: server.quickstart.TENON_TOKEN ?? '' };
  });
  after(() => server.stop());

  const admin = (...args: string[]) => tenon(['admin', ...args], { environment: { TENON_DATA_DIR: server.dataDir } });
  const user = () => server.quickstart.TENON_USER_ID ?? '';

  it('shows the owner of the first start how the server is', async () => {
    const { exitCode, stdout } = await tenon(['status'], { environment });
    assert.equal(exitCode, 0);
    assert.match(stdout, /^metadata +SQLite \/.*tenon\.db, answers in /m);
    assert.match(stdout, /^plugins in +folder \/.*blobs, answers in /m);
    assert.match(stdout, new RegExp(`^process +\\S+, pid ${process.pid}, `, 'm'));
    assert.match(stdout, /^state +ready$/m);
    assert.match(stdout, /^simulations +confined by permissions/m);
    assert.match(stdout, /^webhooks +0 pending, 0 failed in 30 days$/m);
    assert.doesNotMatch(stdout, /NODE/);
  });

  it('writes all of it as JSON', async () => {
    const { stdout } = await tenon(['status', '--json'], { environment });
    const status = JSON.parse(stdout) as ServerStatus;
    assert.equal(status.process.pid, process.pid);
    assert.deepEqual(status.nodes, []);
  });

  it('continues with --watch until it is interrupted', async () => {
    const running = start(['status', '--watch'], { environment });
    await running.says(/connections/);
    running.child.kill('SIGINT');
    assert.equal((await running.ended).exitCode, 130);
  });

  it('is for operators, whom `tenon admin` makes and unmakes', async () => {
    assert.match((await admin('operator', 'list')).stdout, new RegExp(`^${user()} +Demo owner`, 'm'));
    const revoked = await admin('operator', 'revoke', user());
    assert.deepEqual([revoked.exitCode, revoked.stdout], [0, `${user()}\n`]);
    const refused = await tenon(['status'], { environment });
    assert.equal(refused.exitCode, 3);
    assert.match(refused.stderr, /tenon admin operator grant/);
    assert.match((await admin('operator', 'revoke', user())).stderr, /was not an operator/);
    assert.match((await admin('operator', 'list')).stderr, /There are no operators/);
    assert.deepEqual(JSON.parse((await admin('operator', 'grant', user(), '--yes', '--json')).stdout), {
      userId: user(),
      isOperator: true,
    });
    assert.match((await admin('operator', 'grant', user(), '--yes')).stderr, /already/);
    assert.equal((await tenon(['status'], { environment })).exitCode, 0);
    for (const unknown of ['usr_x', 'nobody@example.org', '']) {
      assert.notEqual((await admin('operator', 'grant', unknown, '--yes')).exitCode, 0, unknown);
    }
  });

  it('shows who an unverified address names, and makes no operator by it without asking', async () => {
    const email = server.quickstart.TENON_EMAIL ?? '';
    for (const command of [
      ['operator', 'grant'],
      ['user', 'reset-password'],
    ]) {
      for (const named of [email.toUpperCase(), user()]) {
        const asked = await admin(...command, named);
        assert.notEqual(asked.exitCode, 0, command.join(' '));
        assert.equal(asked.stdout, '');
        assert.match(asked.stderr, /name +Demo owner\n/);
        assert.match(asked.stderr, new RegExp(`id +${user()}\n`));
        assert.match(asked.stderr, /e-mail +\S+@\S+ \(not verified\)\n/);
        assert.match(asked.stderr, /created +\d{4}-/);
        assert.match(asked.stderr, /applications +"Demo" \(owner\)\n/);
      }
      const blind = await admin(...command, email, '--yes');
      assert.notEqual(blind.exitCode, 0, command.join(' '));
      assert.match(blind.stderr, /With --yes a user is named by id/);
    }
    for (const args of [
      ['token', 'create', email],
      ['api-key', 'create', 'CI', '--user', email],
      ['operator', 'revoke', email],
    ]) {
      const asked = await admin(...args);
      assert.deepEqual([asked.exitCode === 0, asked.stdout], [false, ''], args.join(' '));
    }
  });
});
