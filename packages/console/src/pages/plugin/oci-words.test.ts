import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { copyCommands } from './oci-words.ts';

describe('copyCommands()', () => {
  it('signs in to the registry, then copies', () => {
    assert.equal(
      copyCommands('tenon.example.org:8443/a/b/c/median:1.2.0', 'median-3.tar', true),
      'skopeo login --username tenon tenon.example.org:8443\n' +
        'skopeo copy docker://tenon.example.org:8443/a/b/c/median:1.2.0 oci-archive:median-3.tar',
    );
  });

  it('accepts a registry without TLS', () => {
    assert.equal(
      copyCommands('localhost:3300/a/b/c/median@sha256:0', 'median-3.tar', false),
      'skopeo login --tls-verify=false --username tenon localhost:3300\n' +
        'skopeo copy --src-tls-verify=false docker://localhost:3300/a/b/c/median@sha256:0 oci-archive:median-3.tar',
    );
  });
});
