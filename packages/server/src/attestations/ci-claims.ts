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

/** Returns the source that claims describe. The issuer implies the scheme and the host, so it can't name a repository of another host. */
export function sourceOfClaims({ issuer, repository, workflowRef }: CiClaims): VerifiedSource {
  const host = issuer === githubIssuer ? 'https://github.com' : (URL.parse(issuer)?.origin ?? issuer);
  const spellings = (path: string | undefined) =>
    path === undefined ? [] : [...pathSpelling(path), `${host}/${path}`];
  const workflow = workflowRef && withoutGitlabHost(workflowRef, host);
  return { issuer, repositories: spellings(repository), workflows: spellings(workflow) };
}

/** GitLab writes `<host>/<project>//<file>@<ref>`. Other services write no host, and no empty segment. */
function withoutGitlabHost(workflowRef: string, host: string): string {
  const prefix = `${URL.parse(host)?.host}/`;
  return workflowRef.startsWith(prefix) && workflowRef.includes('//') ? workflowRef.slice(prefix.length) : workflowRef;
}

/** A path on its own also stands for a source, unless it could be mistaken for a URL. */
function pathSpelling(path: string): string[] {
  return /^[a-z][a-z0-9+.-]*:/i.test(path) ? [] : [path];
}

/** Returns the source that a verified certificate describes. A URL also counts without its host. */
export function sourceOfSigner({ issuer, repository, workflow, identity }: AttestationSigner): VerifiedSource {
  const spellings = (url: string | null) => {
    const path = url === null ? undefined : /^https:\/\/[^/]+\/(.+)$/.exec(url)?.[1];
    return [...(url === null ? [] : [url]), ...(path === undefined ? [] : pathSpelling(path))];
  };
  return {
    issuer: issuer ?? '',
    repositories: spellings(repository),
    workflows: [...spellings(workflow), ...spellings(identity)],
  };
}
