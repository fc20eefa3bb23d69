import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser, openStageApart, type StageApart, type Visitor } from '../../packages/console/test/helpers/stage.ts';
import { type Acme, furnish, moduleThatSays, type Names, password } from './helpers/acme.ts';
import { everyPage, type PageToSee, show } from './helpers/every-page.ts';
import { failSimulation } from './helpers/gallery.ts';
import { makeOperator } from './helpers/make-operator.ts';
import { askByDevice, type Program, startProgram } from './helpers/oauth.ts';

/** Whatever a page makes of it but text would run, load something, or draw something that is not there. */
function hostile(what: string): string {
  return `${what}<script>hit()</script><img src=x onerror=hit()></textarea></title>'"\`{{1+1}}\${1+1}&lt;&#x3c;`;
}

/** A device's name may be shorter. */
const deviceName = (what: string): string => `${what}<img src=x onerror=hit()><script>hit()</script>`.slice(0, 50);

const names: Names = {
  owner: hostile('owner'),
  admin: hostile('admin'),
  viewer: hostile('viewer'),
  guest: hostile('guest'),
  otherOwner: hostile('other owner'),
  app: hostile('app'),
  otherApps: ['javascript:hit()', '</script><svg/onload=hit()>', '__proto__'],
  foreignApp: hostile('foreign app'),
  extensionPoint: hostile('point'),
  otherExtensionPoints: ['<style>*{display:none}</style>', 'constructor'],
  description: `${hostile('description')}\n\n[a](javascript:hit()) <a href="javascript:hit()">b</a> <iframe src="https://evil.example">`,
  property: 'constructor', // no other than identifiers are allowed
  propertyDescription: hostile('property description'),
  guestKey: hostile('key'),
  otherGuestKeys: ['constructor', '<base href="https:evil.example">', hostile('second key')],
  guestLabel: hostile('label').slice(0, 200),
  guestNote: hostile('guest note'),
  noteName: hostile('note'),
  noteEmail: hostile('address'),
  token: hostile('token'),
  otherToken: hostile('other token'),
  apiKey: hostile('api key'),
};

/** What stands on a page where a text is Markdown: HTML as it is, links to scripts as their text, and characters for their references. */
const inMarkdown = (text: string): string => text.replace('&lt;&#x3c;', '<<').replace('[a](javascript:hit())', 'a');
const descriptions = [inMarkdown(names.description), inMarkdown(names.propertyDescription)];

/** What each page has to show, word for word. */
const shown: Readonly<Record<string, readonly string[]>> = {
  invitation: [names.app, names.guestLabel],
  'home-guest': [names.app],
  home: [names.app, ...names.otherApps, names.foreignApp],
  account: [names.owner],
  tokens: [names.token, names.otherToken, names.apiKey, names.app],
  'token-new': [names.app, names.foreignApp],
  app: [names.app],
  'extension-points': [names.app, names.extensionPoint, ...names.otherExtensionPoints],
  'extension-point': [names.app, names.extensionPoint, ...descriptions, names.property],
  'extension-point-edit': [names.description, names.property],
  activity: [names.token, names.otherToken, names.apiKey],
  plugin: [names.extensionPoint, names.guest, names.guestKey],
  audit: [names.owner, names.admin, names.viewer, names.guest, names.guestKey, names.extensionPoint],
  'guest-plugin': [names.extensionPoint],
  guests: [names.guestKey, names.guestLabel, names.guest, names.viewer, ...names.otherGuestKeys],
  guest: [names.guestKey, names.guestLabel, names.guest, names.noteName, names.noteEmail, names.extensionPoint],
  members: [names.owner, names.admin, names.viewer],
  approve: [deviceName('laptop')],
  'device-decide': [deviceName('box')],
  'invitation-signed-in': [names.app, names.guest],
  'guest-app': [names.app, names.guestLabel, names.extensionPoint],
  'guest-publish': [names.extensionPoint, ...descriptions, names.property],
};

describe('names that would like to be more', { skip: noBrowser }, () => {
  let stage: StageApart;
  let acme: Acme;
  let program: Program;
  let pages: readonly PageToSee[];
  const userAgent = hostile('agent');
  before(async () => {
    stage = await openStageApart({ args: ['--no-demo'], settings: { TENON_SIGN_UP: 'open' } });
    acme = await furnish(stage.url, names);
    await makeOperator(stage, acme.owner.userId);
    await failSimulation(acme);
    program = await startProgram();
    const wasmFile = join(stage.server.folder, `<img src=x onerror=hit()>.wasm`);
    await writeFile(wasmFile, await moduleThatSays('a file'));
    const device = await askByDevice(stage.url, deviceName('box'));
    pages = (await everyPage(stage.url, acme, program, wasmFile)).map((page) => {
      if (page.name === 'approve') return { ...page, path: program.page({ device_name: deviceName('laptop') }) };
      if (page.name === 'device-decide') return { ...page, path: `/device?user_code=${device.user_code}` };
      return page;
    });
  });
  after(async () => {
    await stage.close(); // which fails on requests to others, breaches of the policy and errors in scripts
    program.close();
  });

  for (const as of ['nobody', 'guest', 'owner'] as const) {
    it(`are text on every page that ${as} sees`, async () => {
      const visitor = await stage.visitor({ userAgent });
      await visitor.page.addInitScript(() =>
        Object.assign(window, { hits: 0, hit: () => Object.assign(window, { hits: 1 }) }),
      );
      visitor.page.on('dialog', (dialog) => {
        const isOurs = dialog.type() === 'beforeunload'; // of a form that one leaves as it is
        if (!isOurs) visitor.faults.push(`a dialog: ${dialog.message()}`);
        void dialog.accept();
      });
      if (as !== 'nobody') await signIn(visitor, as);
      const seen = pages.filter((page) => page.as === as);
      for (const page of seen) {
        await show(visitor.page, stage.url, page);
        await assertHarmless(visitor.page, page.name);
        for (const name of shown[page.name] ?? []) await assertShown(visitor.page, name, page.name);
      }
      assert.ok(seen.length > 2);
      await visitor.close();
    });
  }

  it('are all looked for', () => {
    const known = new Set(pages.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(shown).filter((name) => !known.has(name)),
      [],
    );
  });

  it('are text in what opens before something is removed', async () => {
    const visitor = await stage.visitor();
    const { page } = visitor;
    await signIn(visitor, 'owner');
    const { app, held } = acme;
    const asks: readonly (readonly [path: string, button: string])[] = [
      [`/apps/${app.id}/guests/${held.id}`, `Remove ${names.guest} from this guest`],
      [`/apps/${app.id}/guests/${held.id}`, 'Remove the guest…'],
      [`/apps/${app.id}/members`, `Remove ${names.admin} from the team`],
      ['/account/tokens', `Revoke ${names.token}`],
      ['/account/tokens', `Revoke ${names.apiKey}`],
    ];
    for (const [path, button] of asks) {
      await visitor.open(path);
      await page.getByRole('button', { name: button, exact: true }).press('Enter'); // which moves as sections above load
      await page.getByRole('dialog').waitFor();
      await assertHarmless(page, button);
    }
    await visitor.close();
  });

  it('are refused where they would turn the text around them, or show nothing', async () => {
    for (const name of ['\u202eevil\u2066', '\u200b', ' ']) {
      await assert.rejects(acme.owner.call('POST', '/apps', { name }), /: 422 /);
    }
  });

  it('are refused where a plugin is named', async () => {
    const { guest, extensionPoint } = acme;
    for (const name of ['<script>', 'a b', '..', '%00', 'a/b', 'x'.repeat(101)]) {
      const publishing = guest.publish(extensionPoint.id, encodeURIComponent(name), await moduleThatSays(name));
      await assert.rejects(publishing, /: (400|404) /);
    }
  });

  async function signIn(visitor: Visitor, as: 'guest' | 'owner'): Promise<void> {
    await visitor.open('/');
    await visitor.signIn(acme[as].email, password);
  }
});

async function assertHarmless(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => ({
    hits: (window as unknown as { hits?: number }).hits ?? 0,
    elements: document.querySelectorAll(
      'img, iframe, base[href^="https:"], svg[onload], script:not([src]), style, [onerror]',
    ).length,
    links: document.querySelectorAll('[href^="javascript:" i], [src^="javascript:" i]').length,
  }));
  assert.deepEqual(found, { hits: 0, elements: 0, links: 0 }, where);
}

/** That a text stands on the page as it is, in what one reads or in a field. */
async function assertShown(page: Page, text: string, where: string): Promise<void> {
  const squeeze = (value: string): string => value.replaceAll(/\s+/g, '');
  const everything = await page.evaluate(() => {
    const roots: (Document | ShadowRoot)[] = [document];
    for (const element of document.querySelectorAll('*'))
      if (element.shadowRoot !== null) roots.push(element.shadowRoot);
    const fields = [...document.querySelectorAll('input')].map(({ value }) => value);
    return [...roots.map((root) => (root instanceof Document ? root.body : root).textContent), ...fields].join('\n');
  });
  assert.ok(squeeze(everything).includes(squeeze(text)), `${where} does not show ${text}`);
}
