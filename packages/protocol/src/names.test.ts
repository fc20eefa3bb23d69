import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { displayNamePattern, guestKeyFault, isContentAddress, isPluginName, isSemver } from './names.ts';

describe('guestKeyFault()', () => {
  it('returns undefined for a valid key', () => {
    for (const key of ['a', 'acme/eu/42', 'ünïcode 🦊', 'a%2Fb?c#d\\e', '…', '...', 'x'.repeat(512)]) {
      assert.equal(guestKeyFault(key), undefined, key);
    }
  });

  it('returns the fault of an invalid key', () => {
    assert.match(guestKeyFault('') ?? '', /empty/);
    assert.match(guestKeyFault('x'.repeat(513)) ?? '', /512 bytes/);
    assert.match(guestKeyFault('é'.repeat(257)) ?? '', /512 bytes/);
    assert.match(guestKeyFault('a\u0000') ?? '', /control/);
    assert.match(guestKeyFault('a\u0085') ?? '', /control/);
    assert.match(guestKeyFault('\ud800') ?? '', /surrogate/);
    for (const key of [' ', '\u200b', '\u00ad\u2060', '\u3164', 'a\u202eb', 'a\u2066']) {
      assert.match(guestKeyFault(key) ?? '', /visible/, JSON.stringify(key));
    }
    for (const key of ['/a', 'a/', 'a//b', '/']) assert.match(guestKeyFault(key) ?? '', /empty segment/, key);
    for (const key of ['.', '..', 'a/./b', '../a', 'a/..']) assert.match(guestKeyFault(key) ?? '', /"\."/, key);
  });
});

describe('isPluginName()', () => {
  it('accepts letters, digits, dots, dashes and underscores, a letter or digit first', () => {
    for (const name of ['a', '10', 'constructor', '__proto__'.slice(2), 'A.b-c_d', 'x'.repeat(100)])
      assert.ok(isPluginName(name), name);
    for (const name of ['', '.a', '_a', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(101), 'a\n'])
      assert.ok(!isPluginName(name), name);
  });
});

describe('isSemver()', () => {
  it('accepts exactly the versions of the specification', () => {
    const legal = [
      '0.0.0',
      '1.2.3',
      '10.20.30',
      '1.0.0-alpha.1',
      '1.0.0-0.3.7',
      '1.0.0-x-y-z.--',
      '1.0.0+001',
      '1.1.2-a+b.c',
    ];
    for (const text of legal) assert.ok(isSemver(text), text);
    const illegal = [
      '',
      '1',
      '1.2',
      '1.2.3.4',
      'v1.2.3',
      '01.2.3',
      '1.02.3',
      '1.2.3-',
      '1.2.3-01',
      '1.2.3+',
      '1.2.3-a..b',
      ' 1.2.3',
      '1.2.3\n',
    ];
    for (const text of illegal) assert.ok(!isSemver(text), text);
  });

  it('accepts at most 100 characters, and is fast for hostile texts', () => {
    assert.ok(isSemver(`1.2.3-${'a'.repeat(94)}`));
    assert.ok(!isSemver(`1.2.3-${'a'.repeat(95)}`));
    assert.ok(!isSemver(`1.2.3-${'0'.repeat(93)}!`));
  });
});

describe('isContentAddress()', () => {
  it('accepts 43 characters of base64url', () => {
    assert.ok(isContentAddress('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'));
    for (const text of [
      '',
      '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
      '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=',
    ]) {
      assert.ok(!isContentAddress(text), text);
    }
  });
});

describe('displayNamePattern', () => {
  const pattern = new RegExp(displayNamePattern, 'u');
  const invisible = [
    '',
    '  ',
    '\u200b',
    '\u200b\u200d \u2060',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\u2800',
    '\u0301',
    '\ue000',
  ];
  const controls = ['\u202etxt.exe', 'a\u202ab', 'a\u202c', 'a\u2066b\u2069'];
  for (const name of [...invisible, ...controls]) {
    it(`refuses ${JSON.stringify(name)} (${name.length})`, () => assert.ok(!pattern.test(name)));
  }

  for (const name of [
    'Ada',
    ' Ada ',
    'نام',
    'مي\u200cخواهم',
    '日本',
    '👩\u200d👩\u200d👧',
    '<b>&</b>',
    'e\u0301',
    '.',
  ]) {
    it(`takes ${JSON.stringify(name)}`, () => assert.ok(pattern.test(name)));
  }
});
