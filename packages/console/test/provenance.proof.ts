import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint } from '@tenon/protocol';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

/** A bundle that is well-formed and that no authority has signed. */
function unsignedBundle(content: Buffer): object {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'a', digest: { sha256: createHash('sha256').update(content).digest('hex') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {},
  };
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { certificate: { rawBytes: 'AA==' }, tlogEntries: [] },
    dsseEnvelope: {
      payload: Buffer.from(JSON.stringify(statement)).toString('base64'),
      payloadType: 'application/vnd.in-toto+json',
      signatures: [{ sig: 'AA==' }],
    },
  };
}

describe('the provenance of versions', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    owner = await stage.visitor({ acceptDownloads: true });
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
  });
  after(() => stage.close());

  const pointPath = () => `/apps/${workshop.app.id}/extension-points/${workshop.point.id}`;

  it('are shown on the page of a plugin, and a failed one never looks absent', async () => {
    const { page } = owner;
    const first = await ada.publish(workshop.point.id, 'median', greetThatSays('1'));
    const second = greetThatSays('2');
    await ada.publish(workshop.point.id, 'median', second);
    await ada.call('POST', `/api/v1/artifacts/${first.id}/versions/2/attestations`, unsignedBundle(second));
    await owner.open(`${pointPath()}/plugins/${ada.userId}/median`);
    const entry = (number: number) => page.getByRole('listitem').filter({ hasText: `Version ${number}` });
    await entry(2).getByText('provenance failed').waitFor();
    await entry(1).getByText('no provenance').waitFor();
    assert.equal(await entry(2).getByText('no provenance').count(), 0);
    await entry(2).getByText('Provenance of version 2').click();
    await entry(2).getByText('no trusted root is configured').waitFor();
    await entry(2)
      .getByText(/this server, key/)
      .waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    const download = page.waitForEvent('download');
    await entry(2).getByRole('button', { name: 'Download the publish attestation of median-2' }).click();
    assert.equal((await download).suggestedFilename(), 'median-2-publish.sigstore.json');
    await page.setViewportSize({ width: 360, height: 740 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await page.setViewportSize({ width: 1280, height: 720 });
    const { PROVENANCE_SHOTS: shots } = process.env;
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'plugin.png'), fullPage: true });
  });

  it('are required by the rules of an extension point', async () => {
    const { page } = owner;
    await owner.open(`${pointPath()}/rules`);
    await page.getByLabel('Require', { exact: true }).check();
    await page.getByLabel('Repository').fill('acme/*');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be a URL such as').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByLabel('Issuer').fill('https://ci.example.com');
    const { PROVENANCE_SHOTS: shots } = process.env;
    if (shots !== undefined) await page.screenshot({ path: join(shots, 'rules.png'), fullPage: true });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Provenance: required from issuer https://ci.example.com, repository acme/*.').waitFor();
    const { provenance } = await workshop.call<ExtensionPoint>('GET', `/api/v1/extension-points/${workshop.point.id}`);
    assert.deepEqual(provenance, {
      mode: 'require',
      sources: [{ issuer: 'https://ci.example.com', repository: 'acme/*' }],
    });
  });

  it('are shown with what awaits approval', async () => {
    const { page } = owner;
    await workshop.call('PUT', `/api/v1/extension-points/${workshop.point.id}`, {
      requiresApproval: true,
      provenance: { mode: 'none' },
    });
    await ada.publish(workshop.point.id, 'median', greetThatSays('3'));
    await owner.open(`/apps/${workshop.app.id}/approvals`);
    await page.getByText('no provenance').first().waitFor();
    await page.getByText('Provenance of version 3 of median').click();
    await page.getByText('Publish attestation').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
  });
});
