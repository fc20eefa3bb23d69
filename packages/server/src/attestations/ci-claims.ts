import type { AttestationSigner, CiClaims } from '@tenon/protocol';
import type { VerifiedSource } from './provenance-policy.ts';

export function signerOfClaims(claims: CiClaims): AttestationSigner {
  const { issuer, subject, repository, workflowRef, sha, runUrl } = claims;
  return {
    keyId: null,
    issuer,
    identity: subject,
    repository: repository ?? null,
    workflow: workflowRef ?? null,
    commit: sha ?? null,
    runUrl: runUrl ?? null,
  };
}

/** The issuer of GitHub's own CI, which is at another host than its repositories. */
const githubIssuer = 'https://token.actions.githubusercontent.com';

/** Returns the source that claims describe. Claims name a repository without its host, which follows from the issuer. */
export function sourceOfClaims({ issuer, repository, workflowRef }: CiClaims): VerifiedSource {
  const host = issuer === githubIssuer ? 'https://github.com' : (URL.parse(issuer)?.origin ?? issuer);
  const spellings = (path: string | undefined) => (path === undefined ? [] : [path, `${host}/${path}`]);
  return { issuer, repositories: spellings(repository), workflows: spellings(workflowRef) };
}

/** Returns the source that a verified certificate describes. A URL also counts without its host. */
export function sourceOfSigner({ issuer, repository, workflow, identity }: AttestationSigner): VerifiedSource {
  const spellings = (url: string | null) => {
    const path = url === null ? undefined : /^https:\/\/[^/]+\/(.+)$/.exec(url)?.[1];
    return [url ?? [], path ?? []].flat();
  };
  return {
    issuer: issuer ?? '',
    repositories: spellings(repository),
    workflows: [...spellings(workflow), ...spellings(identity)],
  };
}
