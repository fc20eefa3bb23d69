import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accessibilityFaults, noBrowser, openStage, type Stage } from './helpers/stage.ts';

describe('signing in', { skip: noBrowser }, () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage.close());

  it('leads the demo owner from any page through the form to that page', async () => {
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    const visitor = await stage.visitor();
    await visitor.open('/');
    assert.equal(await visitor.page.title(), 'Sign in · Tenon');
    assert.deepEqual(await accessibilityFaults(visitor.page), []);
    await visitor.signIn(email, password);
    await visitor.page.getByRole('heading', { name: 'Applications' }).waitFor();
    assert.equal(await visitor.page.title(), 'Applications · Tenon');
    assert.deepEqual(await accessibilityFaults(visitor.page), []);
    await visitor.close();
  });
});
