import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App } from '@tenon/protocol';
import { grouped, matches, type SearchEntry, staticEntries } from './search-entries.ts';

const app = (role: App['role'], guests: App['guests'] = []) =>
  ({ id: 'app_1', name: 'Acme', role, guests }) as unknown as App;
const account = { isOperator: false, mayCreateApps: false };
const labels = (entries: readonly SearchEntry[]) => entries.map(({ label }) => label);

describe('staticEntries()', () => {
  it('has what the role allows', () => {
    const owner = labels(staticEntries(account, app('owner')));
    for (const label of ['Invite a guest', 'New extension point', 'Audit trail', 'Settings']) {
      assert.ok(owner.includes(label), label);
    }
    const viewer = labels(staticEntries(account, app('viewer')));
    assert.ok(!viewer.includes('Invite a guest') && !viewer.includes('Audit trail') && viewer.includes('Guests'));
    const guest = labels(staticEntries(account, app('guest', [{ id: 'gst_1', label: null }] as never)));
    assert.ok(guest.includes('My plugins') && !guest.includes('Guests') && !guest.includes('Settings'));
  });

  it('has the documentation, which opens in a new tab', () => {
    const found = staticEntries(account).filter((entry) => matches(entry, 'docs'));
    assert.deepEqual(
      found.map(({ act }) => act),
      [{ newTab: '/docs' }],
    );
  });

  it('has the pages of operators for operators, and unique keys', () => {
    assert.ok(!labels(staticEntries(account)).includes('Status'));
    const all = staticEntries({ isOperator: true, mayCreateApps: true }, app('owner'));
    assert.ok(labels(all).includes('Status') && labels(all).includes('New application'));
    assert.equal(new Set(all.map(({ key }) => key)).size, all.length);
  });
});

describe('matches()', () => {
  it('finds the beginnings of words in any order and case', () => {
    const entry = { label: 'Invite a guest', hint: 'Acme' };
    for (const query of ['inv', 'GUEST inv', 'acme guest']) assert.ok(matches(entry, query), query);
    for (const query of ['nvite', 'guest bob']) assert.ok(!matches(entry, query), query);
  });
});

describe('grouped()', () => {
  it('keeps the order of groups', () => {
    const of = (group: SearchEntry['group']): SearchEntry => ({ key: group, group, label: group, act: { to: '/' } });
    assert.deepEqual(
      grouped([of('Guests'), of('Actions'), of('Plugins')]).map(([group]) => group),
      ['Actions', 'Plugins', 'Guests'],
    );
  });
});
