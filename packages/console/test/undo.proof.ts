import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { greetThatSays, openPublisher, type Publisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

const soon = { timeout: 20_000 };

describe('undo', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let owner: Visitor;
  let ada: Publisher;
  let path: string;
  before(async () => {
    stage = await openStage({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    workshop = await openWorkshop(stage, 'Acme Spreadsheet');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    for (const text of ['1', '2']) await ada.publish(workshop.point.id, 'median', greetThatSays(text));
    owner = await stage.visitor();
    await owner.open('/');
    const { TENON_EMAIL: email = '', TENON_PASSWORD: password = '' } = stage.server.quickstart;
    await owner.signIn(email, password);
    path = `/apps/${workshop.app.id}/extension-points/${workshop.point.id}/plugins/${ada.userId}/median`;
  });
  after(() => stage.close());

  const bound = async () => {
    const median = `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/median`;
    const { objects } = await workshop.call<{ objects: { version: number | null }[] }>('GET', `${median}/bindings`);
    return objects[0]?.version;
  };
  const toast = (text: string) => owner.page.getByRole('status').getByText(text, { exact: true });
  const dialog = () => owner.page.getByRole('dialog');

  it('unblocks a plugin with the button of the toast, on any page', async () => {
    const { page } = owner;
    await owner.open(path);
    await page.getByRole('button', { name: 'Block plugin…' }).click();
    await dialog().getByLabel('Reason').fill('It sends data home.');
    await dialog().getByRole('button', { name: 'Block plugin' }).click();
    await toast('Plugin blocked.').waitFor();
    assert.equal(await bound(), null);
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.setViewportSize({ width: 320, height: 640 });
    assert.deepEqual(await faultsInBothColours(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole('link', { name: 'Acme Spreadsheet' }).click();
    await page.getByRole('button', { name: 'Undo: Plugin blocked.' }).click();
    await toast('Plugin unblocked.').waitFor();
    assert.equal(await bound(), 2);
  });

  it('restores what was yanked by Ctrl-Z, which belongs to a text where one is edited', async () => {
    const { page } = owner;
    await owner.open(path);
    await page.getByRole('button', { name: /^Yank.*version 2/ }).click();
    await dialog().getByLabel('Reason').fill('Wrong.');
    await dialog().getByRole('button', { name: 'Yank version' }).click();
    await toast('median version 2 yanked.').waitFor();
    assert.equal(await bound(), 1);
    await page.getByRole('button', { name: 'Block plugin…' }).click();
    await dialog().getByLabel('Reason').fill('x');
    await page.keyboard.press('Control+z');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await bound(), 1);
    await page.keyboard.press('Control+z');
    await toast('median version 2 restored.').waitFor();
    assert.equal(await bound(), 2);
    await page
      .getByText('yanked', { exact: true })
      .first()
      .waitFor({ state: 'detached', ...soon });
    await page.keyboard.press('Control+z');
    assert.equal(await bound(), 2, 'an undo can be used once');
  });

  it('ends a rollback, and returns to the earlier pin', async () => {
    const { page } = owner;
    await owner.open(path);
    await page.getByRole('button', { name: /^Roll back.*version 1/ }).click();
    await dialog().getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('button', { name: 'Undo: Rolled back to median version 1.' }).click();
    await toast('Rollback undone.').waitFor();
    assert.equal(await bound(), 2);
    await page.getByRole('button', { name: /^Pin for/ }).click();
    await dialog().getByLabel('Version').selectOption('1');
    await dialog().getByRole('button', { name: 'Pin version 1' }).click();
    await page.getByRole('button', { name: 'Undo: Pinned to version 1.' }).click();
    await toast('Unpinned.').waitFor();
    assert.equal(await bound(), 2);
  });

  it('says why it did not work', async () => {
    const { page } = owner;
    await owner.open(path);
    await page.getByRole('button', { name: 'Block plugin…' }).click();
    await dialog().getByLabel('Reason').fill('It sends data home.');
    await dialog().getByRole('button', { name: 'Block plugin' }).click();
    await toast('Plugin blocked.').waitFor();
    await workshop.call('DELETE', `/api/v1/artifacts/${workshop.point.id}/plugin/${ada.userId}/median/block`);
    await page.getByRole('button', { name: 'Undo: Plugin blocked.' }).click();
    await page
      .getByRole('status')
      .getByText(/^Not undone\. /)
      .waitFor();
  });
});
