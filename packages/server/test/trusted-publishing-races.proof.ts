import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TrustRule } from '@tenon/protocol';
import { exportSPKI, SignJWT } from 'jose';
import { type CiIssuer, jobClaims, openCiIssuer } from '../../../test/helpers/ci-issuer.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { openService, type TestService } from './helpers/service.ts';
import { exchangeToken } from './helpers/token-exchange.ts';
import { makeWorld, ok, type World } from './helpers/world.ts';

const base = 'http://localhost:8366';

for (const database of ['SQLite', 'PostgreSQL']) {
  describe(`trusted publishing on ${database}`, { skip: database === 'PostgreSQL' && noPostgres }, () => {
    let issuer: CiIssuer;
    let nodes: readonly TestService[];
    let world: World;
    before(async () => {
      issuer = await openCiIssuer(() => base);
      const config = { trustedIssuers: [issuer.url], trustedProxies: ['127.0.0.1'] };
      if (database === 'SQLite') nodes = [await openService({ config })];
      else {
        const databaseUrl = (await (await sharedPostgres()).createDatabase()).url;
        const options = { config: { ...config, databaseUrl, databaseConnections: 4 } };
        nodes = [await openService(options), await openService(options)];
      }
      const [first] = nodes;
      assert.ok(first);
      world = await makeWorld(first);
      const plugin = { extensionPointId: world.extensionPointId, name: 'median' };
      const json = { plugin, provider: 'github', issuer: issuer.url, claims: { repository: 'octo/median' } };
      await ok<TrustRule>(first, 'POST', '/api/v1/trust-rules', { token: world.guest.token, json });
    });
    after(async () => {
      for (const node of nodes) await node.close();
      await issuer.close();
    });

    const nodeAt = (at: number): TestService => nodes[at % nodes.length] as TestService;

    it('exchanges an identity token once, however many requests come at the same time', async () => {
      for (const jti of ['a', undefined]) {
        const token = await issuer.sign({ jti, nonce: String(jti) });
        const responses = await Promise.all(
          Array.from({ length: 20 }, (_, at) => exchangeToken(nodeAt(at), token, {}, `192.0.2.${at}`)),
        );
        const statuses = responses.map(({ statusCode }) => statusCode).sort();
        assert.deepEqual(statuses, [200, ...Array(19).fill(400)]);
      }
    });

    it('refuses HS256 with the public key as the secret', async () => {
      const secret = new TextEncoder().encode(await exportSPKI(issuer.publicKey));
      const nowSeconds = Math.floor(Date.now() / 1000);
      const claims = { ...jobClaims, iss: issuer.url, aud: base, iat: nowSeconds, exp: nowSeconds + 300 };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(secret);
      assert.equal((await exchangeToken(nodeAt(0), token, {}, '192.0.2.50')).statusCode, 400);
      const [event] = await nodeAt(0).store.read.auditOfAll({ action: 'token_exchange.refuse' }, { limit: 1 });
      assert.equal(event?.details?.reason, 'algorithm');
    });

    it('fetches the keys again after a rotation, and not for each unknown key', async () => {
      await issuer.rotate();
      const exchange = (token: string) => exchangeToken(nodeAt(0), token, {}, '192.0.2.60');
      const before = issuer.requests();
      for (let sent = 0; sent < 5; sent++)
        assert.equal((await exchange(await issuer.sign({}, { kid: 'x' }))).statusCode, 400);
      assert.equal(issuer.requests(), before, 'the keys were fetched a moment ago');
      for (const node of nodes) node.advance(40_000);
      // The service's clock is ahead, and so is the job's.
      const iat = Math.floor(Date.now() / 1000) + 40;
      const kid = 'key-1+';
      const later = await exchange(await issuer.sign({ iat, exp: iat + 300 }, { kid }));
      assert.equal(later.statusCode, 200, later.payload);
    });
  });
}
