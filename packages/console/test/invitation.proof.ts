import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Invitation } from '@tenon/protocol';
import { noBrowser, openStage, type Stage, type Visitor } from './helpers/stage.ts';
import { accept, faultsInBothColours, openWorkshop, signUpThrough, type Workshop } from './helpers/workshop.ts';

describe('the page of an invitation', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme <b>Spreadsheet</b>');
  });
  after(() => stage.close());

  const heading = (visitor: Visitor, name: string | RegExp) =>
    visitor.page.getByRole('heading', { name, level: 1 }).waitFor();

  it('leads a user who has no account through making one to the application', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    const link = await workshop.invite('customers/secret-key-of-globex');
    const code = new URL(link).searchParams.get('code') ?? '';
    const reported: string[] = [];
    page.on('request', (request) => reported.push(`${request.url()} ${request.headers().referer ?? ''}`));
    const answers: Promise<string>[] = [];
    page.on('response', (response) => answers.push(response.text().catch(() => '')));

    await page.goto(link);
    await heading(visitor, 'Acme <b>Spreadsheet</b> invites you');
    assert.equal(page.url(), `${stage.url}/accept-invite`, 'the code is off the address bar');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.reload();
    await heading(visitor, 'Acme <b>Spreadsheet</b> invites you');

    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(visitor, 'Create an account');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Create an account');
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.getByRole('button', { name: 'Back to the invitation' }).click();
    await signUpThrough(visitor, page.url(), 'Gustav Guest');
    await page.getByText('You are signed in as Gustav Guest').waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);

    await accept(visitor);
    await page.getByText(`tenon login --server ${stage.url}`).waitFor();
    assert.deepEqual(await faultsInBothColours(page), []);
    await page.reload();
    await heading(visitor, 'You are a guest of Acme <b>Spreadsheet</b>');
    await page.getByRole('link', { name: 'Go to Acme <b>Spreadsheet</b>' }).click();
    await heading(visitor, 'Acme <b>Spreadsheet</b>');
    assert.equal(page.url(), `${stage.url}/apps/${workshop.app.id}/my-plugins`);
    await page.goBack();
    await heading(visitor, 'You are a guest of Acme <b>Spreadsheet</b>');

    assert.deepEqual(
      reported.filter((request) => request.includes(code)),
      [`${link} `],
      'the code went out once, with the link itself',
    );
    const everything = [...(await Promise.all(answers)), await page.content()].join('\n');
    assert.ok(everything.includes(workshop.app.id));
    assert.ok(!everything.includes('secret-key-of-globex'), 'a guest never learns the guest key');
    const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    assert.ok(!kept.includes(code), kept);
    await visitor.close();
  });

  it('takes who has an account through the sign-in, and lets them change their mind on which', async () => {
    const owner = stage.server.quickstart;
    const visitor = await stage.visitor();
    const { page } = visitor;
    await signUpThrough(visitor, await workshop.invite('customers/initech'), 'Peter Gibbons');
    await page.getByRole('button', { name: 'Use another account' }).click();
    await heading(visitor, /invites you/);
    await page.getByText('No account can be created with this invitation').waitFor(); // one was
    assert.equal(await page.getByRole('button', { name: 'Create account' }).count(), 0);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill(owner.TENON_EMAIL ?? '');
    await page.getByLabel('Password', { exact: true }).fill(owner.TENON_PASSWORD ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You are signed in as Demo owner').waitFor();
    await accept(visitor);
    await visitor.close();
  });

  it('declines after a question, and says so after a reload too', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await signUpThrough(visitor, await workshop.invite('customers/umbrella'), 'Alice Abernathy');
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    const dialog = page.getByRole('dialog');
    assert.deepEqual(await faultsInBothColours(page), []);
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await heading(visitor, 'You declined the invitation');
    await page.reload();
    await heading(visitor, 'You declined the invitation');
    const invitations = await workshop.call<{ objects: Invitation[] }>(
      'GET',
      `/api/v1/apps/${workshop.app.id}/invitations`,
    );
    assert.equal(invitations.objects.find(({ guestKey }) => guestKey === 'customers/umbrella')?.status, 'declined');
    // The next user of this tab does not see it.
    await page.goto(`${stage.url}/`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${stage.url}/accept-invite`);
    await heading(visitor, 'This invitation has been used');
    await visitor.close();
  });

  it('tells in one tab what was answered in the other', async () => {
    const visitor = await stage.visitor();
    const link = await workshop.invite('customers/hooli');
    await signUpThrough(visitor, link, 'Nelson Bighetti');
    const other = await visitor.page.context().newPage();
    await other.goto(link);
    await other.getByRole('button', { name: 'Accept' }).waitFor();
    await accept(visitor);
    await other.getByRole('button', { name: 'Accept' }).click();
    await other.getByRole('heading', { name: 'This invitation has been used' }).waitFor();
    await other.getByRole('link', { name: 'Go to your applications' }).click();
    await other.getByRole('link', { name: 'Acme <b>Spreadsheet</b>' }).waitFor();
    await visitor.close();
  });

  it('has words for each code that does not work', async () => {
    const { app } = workshop;
    const revoked = await workshop.invite('customers/vandelay');
    const { objects } = await workshop.call<{ objects: Invitation[] }>('GET', `/api/v1/apps/${app.id}/invitations`);
    const { id } = objects.find(({ guestKey }) => guestKey === 'customers/vandelay') ?? assert.fail();
    await workshop.call('DELETE', `/api/v1/apps/${app.id}/invitations/${id}`);

    const visitor = await stage.visitor();
    const { page } = visitor;
    const cases: readonly (readonly [string, string])[] = [
      [revoked, 'The invitation was revoked'],
      [`${stage.url}/accept-invite?code=${'x'.repeat(43)}`, 'Invitation not found'],
      [`${stage.url}/accept-invite?code=${'x'.repeat(1000)}`, 'Invitation not found'],
      [`${stage.url}/accept-invite?code=`, 'Invitation not found'],
    ];
    for (const [link, title] of cases) {
      await page.goto(link);
      await heading(visitor, title);
      assert.equal(page.url(), `${stage.url}/accept-invite`);
      assert.deepEqual(await faultsInBothColours(page), []);
      await page.reload();
      await heading(visitor, title);
    }
    await visitor.close();

    const another = await stage.visitor();
    await another.open('/accept-invite');
    await heading(another, 'This link is incomplete');
    assert.deepEqual(await faultsInBothColours(another.page), []);
    await another.close();
  });
});

describe('the page of an invitation, later', { skip: noBrowser }, () => {
  it('says that it has expired, and when too many codes were tried', async () => {
    const stage = await openStage({
      settings: { TENON_TIMES: 'invitation=1s', TENON_RATES: 'code-tries-per-minute=2' },
    });
    try {
      const workshop = await openWorkshop(stage, 'Acme');
      const link = await workshop.invite('customers/globex');
      await sleep(1_100);
      const visitor = await stage.visitor();
      const { page } = visitor;
      await page.goto(link);
      await page.getByRole('heading', { name: 'This invitation has expired' }).waitFor();
      assert.deepEqual(await faultsInBothColours(page), []);
      const tooMany = page.getByRole('heading', { name: 'Too many attempts' });
      for (let round = 0; round < 4 && !(await tooMany.isVisible()); round++) {
        await page.goto(`${stage.url}/accept-invite?code=wrong-${round}`);
        await page.getByRole('heading', { name: /Too many attempts|Invitation not found/ }).waitFor();
      }
      await page.getByText(/Try again in/).waitFor();
      assert.deepEqual(await faultsInBothColours(page), []);
      await visitor.close();
    } finally {
      await stage.close();
    }
  });
});
