import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { greetThatSays, openPublisher } from './helpers/publishing.ts';
import { noBrowser, openStage, type Stage } from './helpers/stage.ts';
import { faultsInBothColours, openWorkshop, type Workshop } from './helpers/workshop.ts';

const hostile = `# Greeter **README**

<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">
<iframe srcdoc="<script>parent.hacked = 3</script>"></iframe> <b onclick="hacked()">bold</b>

[script](javascript:window.hacked=4) [data](data:text/html,<script>1</script>) [tab](java\tscript:window.hacked=5)
[entity](&#106;avascript:window.hacked=6) [vb](vbscript:x) [file](file:///etc/passwd) [own](/account) [bare](//evil.example)
[good](https://good.example/a?b=1&c=<x>) <https://auto.example/> me@mail.example [mail](mailto:a@b.example)

![picture](https://evil.example/pixel.png "title") ![x](javascript:alert(1))

[ref]: javascript:window.hacked=7
[ref] <style>body{display:none}</style> &lt;i&gt; &#60;script&#62;

| a | b |
|---|---|
| <td> | \`<code>\` |

- [x] done
- [ ] open

\`\`\`html
<script>window.hacked = 8</script>
\`\`\`
`;

const heavy: Readonly<Record<string, string>> = {
  'nested quotes': '>'.repeat(60_000),
  'nested lists': Array.from({ length: 300 }, (_, at) => `${' '.repeat(at * 2)}- x`)
    .join('\n')
    .slice(0, 60_000),
  'open brackets': '['.repeat(60_000),
  stars: '*a '.repeat(20_000),
  underscores: '_a'.repeat(30_000),
  backticks: Array.from({ length: 300 }, (_, at) => '`'.repeat(at))
    .join(' ')
    .slice(0, 60_000),
  'links in links': '[a]('.repeat(15_000),
  tables: `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${`${'|b'.repeat(200)}\n`.repeat(140)}`.slice(0, 60_000),
  references: Array.from({ length: 2000 }, (_, at) => `[r${at}]: https://a.example/${at}`).join('\n'),
  html: '<a '.repeat(20_000),
  emphasis: '**a *b '.repeat(8000),
  spaces: `a${' '.repeat(60_000)}b`,
};

describe('Markdown of a hostile publisher', { skip: noBrowser }, () => {
  let stage: Stage;
  let workshop: Workshop;
  let ada: Awaited<ReturnType<typeof openPublisher>>;
  let path: string;
  let page: string;
  before(async () => {
    stage = await openStage();
    workshop = await openWorkshop(stage, 'Acme');
    ada = await openPublisher(stage, workshop, 'customers/globex', 'Ada Lovelace');
    const plugin = await ada.publish(workshop.point.id, 'greeter', greetThatSays('1'));
    path = `/api/v1/artifacts/${plugin.id}/about`;
    page = `/apps/${workshop.app.id}/extension-points/${workshop.point.id}/plugins/${plugin.userId}/greeter`;
  });
  after(() => stage.close());

  async function openTeam() {
    const { TENON_EMAIL: email = '', TENON_PASSWORD: secret = '' } = stage.server.quickstart;
    const owner = await stage.visitor();
    await owner.open(page);
    await owner.signIn(email, secret);
    return owner;
  }

  it('runs no script, loads nothing, shows HTML as text, and links only to http, https and mailto', async () => {
    const about = { description: '<b>Not bold</b>', homepage: 'https://home.example/', readme: hostile };
    await ada.call('PUT', path, about);
    const owner = await openTeam();
    const markdown = owner.page.locator('.markdown').first();
    await owner.page.getByRole('heading', { name: 'Greeter README', level: 3 }).waitFor();
    await markdown.getByText('<script>window.hacked = 1</script>').first().waitFor();
    assert.equal(await owner.page.evaluate(() => 'hacked' in window), false);
    for (const tag of ['script', 'img', 'iframe', 'style', 'b', 'i', 'form']) {
      assert.equal(await markdown.locator(tag).count(), 0, tag);
    }
    const links = await markdown
      .locator('a')
      .evaluateAll((all) =>
        all.map((link) => [link.textContent, (link as HTMLAnchorElement).href, (link as HTMLAnchorElement).rel]),
      );
    const rel = 'noopener noreferrer nofollow ugc';
    assert.deepEqual(links, [
      ['good', 'https://good.example/a?b=1&c=%3Cx%3E', rel],
      ['https://auto.example/', 'https://auto.example/', rel],
      ['me@mail.example', 'mailto:me@mail.example', rel],
      ['mail', 'mailto:a@b.example', rel],
      ['picture', 'https://evil.example/pixel.png', rel],
    ]);
    const attributes = await markdown
      .locator('*')
      .evaluateAll((all) => [...new Set(all.flatMap((one) => one.getAttributeNames()))].sort());
    assert.deepEqual(attributes, ['aria-label', 'class', 'href', 'rel', 'scope', 'tabindex', 'target', 'title']);
    await owner.page.getByText('<b>Not bold</b>').first().waitFor();
    assert.deepEqual(await faultsInBothColours(owner.page), []);
    await owner.close(); // and the stage fails on any request to another host
  });

  it('never stops the page', async () => {
    const owner = await openTeam();
    for (const readme of Object.values(heavy)) {
      await ada.call('PUT', path, { readme });
      await owner.open(page);
      await owner.page.locator('.markdown').first().waitFor({ state: 'attached' }); // some show nothing
      await owner.page.getByRole('heading', { name: 'History' }).waitFor();
    }
    await owner.close();
  });

  it('is written on the plugin’s page by its publisher, and removed by the team', async () => {
    await ada.call('DELETE', path);
    const { page: own } = ada.visitor;
    await ada.visitor.open(`/apps/${workshop.app.id}/my-plugins/${workshop.point.id}/greeter`);
    await own.getByRole('button', { name: 'Describe the plugin…' }).click();
    await own.getByLabel('Description').fill('Greets people.');
    await own.getByLabel('Homepage').fill('javascript:alert(1)');
    await own.getByLabel('README').fill('**Hello** there');
    await own.getByRole('button', { name: 'Save' }).click();
    await own.getByText('must be an http or https URL').first().waitFor();
    await own.getByLabel('Homepage').fill('https://greeter.example');
    await own.getByRole('button', { name: 'Save' }).click();
    await own.locator('.markdown strong').getByText('Hello').waitFor();
    await own.getByRole('link', { name: 'greeter.example' }).waitFor();
    assert.deepEqual(await faultsInBothColours(own), []);
    const owner = await openTeam();
    await owner.page.getByText('Greets people.').waitFor();
    assert.equal(await owner.page.getByRole('button', { name: 'Edit…' }).count(), 0);
    await owner.page.getByRole('button', { name: 'Remove description' }).click();
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove description' }).click();
    await owner.page.getByText('Description removed.').waitFor();
    await owner.page.getByRole('heading', { name: 'About' }).waitFor({ state: 'detached' });
    await owner.close();
  });
});
