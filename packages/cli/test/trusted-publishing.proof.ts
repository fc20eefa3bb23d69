import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CiIssuer, openCiIssuer } from '../../../test/helpers/ci-issuer.ts';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';

let issuer: CiIssuer;
let world: PluginWorld;
/** What a runner of GitHub Actions offers its jobs. */
let actions: Server;
let actionsUrl: string;
let requested: { audience: string | null; authorization: string | undefined }[] = [];

before(async () => {
  issuer = await openCiIssuer(() => world.server.url);
  world = await createPluginWorld({ TENON_TRUSTED_ISSUERS: issuer.url });
  actions = createServer(async (request, response) => {
    const audience = new URL(request.url ?? '', 'http://x').searchParams.get('audience');
    requested.push({ audience, authorization: request.headers.authorization });
    response.end(JSON.stringify({ value: await issuer.sign({ aud: audience }) }));
  });
  await new Promise<void>((resolve) => actions.listen(0, '127.0.0.1', resolve));
  actionsUrl = `http://127.0.0.1:${(actions.address() as AddressInfo).port}/token?api-version=2.0`;
});

after(async () => {
  actions.close();
  await world.stop();
  await issuer.close();
});

async function makeJob(environment: Record<string, string> = {}) {
  const guest = await world.makeGuest();
  await guest.write(moduleOf(Math.floor(Math.random() * 1e9)));
  const setting = { environment: { TENON_URL: world.server.url, ...environment }, workingFolder: guest.path };
  const add = (...args: string[]) =>
    guest.plugin('trust', 'add', '--provider', 'github', '--issuer', issuer.url, ...args);
  return { guest, setting, add, push: (...args: string[]) => world.tenon(['plugin', 'push', ...args], setting) };
}

const github = () => ({
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: actionsUrl,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-secret',
});

describe('tenon plugin push in a CI job', () => {
  it('publishes from GitHub Actions without a token, and revokes the token that it got', async () => {
    const { guest, add, push } = await makeJob(github());
    const rule = (await add('--repository', 'octo/median', '--environment', 'release')).stdout.trim();
    assert.match((await guest.plugin('trust', 'list')).stdout, /sums .*repository=octo\/median/);
    requested = [];
    const { stdout, stderr, exitCode } = await push();
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout.trim(), await guest.bound());
    assert.deepEqual(requested, [{ audience: world.server.url, authorization: 'Bearer runner-secret' }]);
    const tokens = (await world.demand(['token', 'list', '--json'], guest.setting)).json();
    assert.ok(!JSON.stringify(tokens).includes(rule), 'the token is revoked');
    await guest.plugin('trust', 'remove', rule, '--yes');
    assert.equal((await push()).exitCode, 3);
  });

  it('publishes no more after the team removed the rule', async () => {
    const { guest, add, push } = await makeJob(github());
    const rule = (await add('--repository', 'octo/median')).stdout.trim();
    assert.equal((await push()).exitCode, 0);
    const ofTeam = ['plugin', 'trust', 'remove', rule, '--app', world.server.quickstart.TENON_APP_ID ?? '', '--yes'];
    assert.equal((await world.tenon(ofTeam, guest.setting)).exitCode, 3, 'not by a guest');
    await world.demand(ofTeam);
    assert.equal((await push()).exitCode, 3);
    assert.equal((await guest.plugin('trust', 'list')).stdout, '');
  });

  it('says which claims no rule matches, and not the token', async () => {
    const { add, push } = await makeJob(github());
    await add('--repository', 'octo/other');
    const { stderr, exitCode } = await push();
    assert.equal(exitCode, 3);
    assert.match(stderr, /No rule of trusted publishing matches/);
    assert.match(stderr, /repository: octo\/median/);
    assert.doesNotMatch(stderr, /eyJ/);
  });

  it('uses the token of TENON_ID_TOKEN or of a file, and sends it to its audience only', async () => {
    const { guest, add, setting } = await makeJob();
    await add('--repository', 'octo/median');
    const pushWith = (TENON_ID_TOKEN: string, ...args: string[]) =>
      world.tenon(['plugin', 'push', ...args], { ...setting, environment: { ...setting.environment, TENON_ID_TOKEN } });
    assert.equal((await pushWith(await issuer.sign())).exitCode, 0);
    await writeFile(join(guest.path, 'id-token'), `${await issuer.sign()}\n`);
    const ofFile = await pushWith('', '--id-token-file', 'id-token');
    assert.equal(ofFile.exitCode, 0, ofFile.stderr);
    const elsewhere = await pushWith(await issuer.sign({ aud: 'https://other.example' }));
    assert.equal(elsewhere.exitCode, 3);
    assert.match(elsewhere.stderr, /was not sent/);
  });

  it('says what a job lacks', async () => {
    const onGithub = await makeJob({ GITHUB_ACTIONS: 'true' });
    assert.match((await onGithub.push()).stderr, /id-token: write/);
    const onGitlab = await makeJob({ GITLAB_CI: 'true' });
    assert.match((await onGitlab.push()).stderr, /id_tokens:\n +TENON_ID_TOKEN:\n +aud: http/);
    const nowhere = await makeJob();
    assert.match((await nowhere.push()).stderr, /There is no access token/);
  });
});
