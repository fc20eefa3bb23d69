import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPublicAddress } from './public-addresses.ts';

describe('isPublicAddress()', () => {
  it('refuses private, local and special addresses, also inside IPv6 addresses', () => {
    for (const address of [
      ...[
        '127.0.0.1',
        '10.0.0.1',
        '172.31.0.1',
        '192.168.1.1',
        '169.254.169.254',
        '100.64.0.1',
        '0.0.0.0',
        '255.255.255.255',
      ],
      ...['224.0.0.1', '198.18.0.1', '::1', '::', 'fe80::1', 'fd00::1', 'ff02::1', '::ffff:10.0.0.1', '::ffff:8.8.8.8'],
      ...['64:ff9b::a00:1', '2002:a00:1::', '2001:db8::1', '2001::1', 'localhost', ''],
    ])
      assert.ok(!isPublicAddress(address), address);
    for (const address of ['8.8.8.8', '140.82.112.3', '2606:50c0:8000::153'])
      assert.ok(isPublicAddress(address), address);
  });
});
