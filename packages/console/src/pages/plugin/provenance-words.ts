import type { Attestation, Version } from '@tenon/protocol';

/** The three states, each with words and a colour of its own: a failed one must not look like an absent one. */
export const provenanceWords: Readonly<Record<Version['provenance'], string>> = {
  verified: 'provenance verified',
  failed: 'provenance failed',
  absent: 'no provenance',
};

export const provenanceBadges = { verified: 'good', failed: 'bad', absent: 'plain' } as const;

export const kindWords: Readonly<Record<Attestation['kind'], string>> = {
  publish: 'Publish attestation',
  provenance: 'Provenance',
  sbom: 'SBOM',
  origin: 'Attestation of the origin',
};

/** What is known of the signer of an attestation. A failed one has no signer: its claims are not verified. */
export function signerFacts({
  signer,
  kind,
}: Pick<Attestation, 'signer' | 'kind'>): readonly (readonly [string, string])[] {
  if (signer === null) return [];
  const { keyId, issuer, identity, repository, workflow, commit } = signer;
  const facts: readonly (readonly [string, string | null])[] = [
    [
      'Signer',
      keyId === null ? identity : `${kind === 'origin' ? 'another' : 'this'} server, key ${keyId.slice(0, 16)}…`,
    ],
    ['Published by', kind === 'publish' ? identity : null],
    ['Issuer', issuer],
    ['Repository', repository],
    ['Workflow', workflow],
    ['Commit', commit],
  ];
  return facts.flatMap(([term, text]) => (text === null ? [] : [[term, text] as const]));
}

/** Returns a URL that a page may link to. */
export function webUrl(text: string | null): string | undefined {
  const url = text === null ? null : URL.parse(text);
  return url?.protocol === 'https:' ? url.href : undefined;
}
