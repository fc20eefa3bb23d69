import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { pluginNamePattern } from './names.ts';
import { Type } from './type.ts';

/* Trusted publishing: CI jobs publish with the identity token of their CI service, and no stored secret. */

/** The CI services with a template. `generic` is any other OpenID Connect issuer. */
export const trustProvider = oneOf(['github', 'gitlab', 'forgejo', 'generic']);
export type TrustProvider = Static<typeof trustProvider>;

/** The most rules that an account can have. */
export const maxTrustRules = 50;

/** The most claims in a rule. */
export const maxTrustRuleClaims = 10;

/** The most networks that a token can be restricted to. */
export const maxTokenNetworks = 20;

/** The claims that a rule compares, by name. */
export const trustRuleClaims = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$' }),
  Type.String({ minLength: 1, maxLength: 500 }),
  {
    maxProperties: maxTrustRuleClaims,
    description:
      'the expected values of claims, by name. Values are equal as text. In `sub`, each `*` stands for any characters except `:`. ' +
      'One of the claims must pin a repository or project',
  },
);
export type TrustRuleClaims = Static<typeof trustRuleClaims>;

/** A plugin of the account, which need not exist yet. */
export const ownPlugin = Type.Object({
  extensionPointId: id('extensionPoint', "the plugin's extension point"),
  name: Type.String({ pattern: pluginNamePattern, description: "the plugin's name" }),
});
export type OwnPlugin = Static<typeof ownPlugin>;

/** The CI job that a token was issued for, from the claims of its identity token. */
export const ciClaims = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  repository: Type.Optional(Type.String()),
  repositoryId: Type.Optional(Type.String()),
  workflowRef: Type.Optional(Type.String()),
  environment: Type.Optional(Type.String()),
  ref: Type.Optional(Type.String()),
  sha: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
  runUrl: Type.Optional(Type.String()),
});
export type CiClaims = Static<typeof ciClaims>;

const ruleFields = {
  provider: trustProvider,
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "the issuer's URL: the claim `iss` exactly as in the tokens",
  }),
  claims: trustRuleClaims,
};

export const trustRule = Type.Object({
  id: id('trustRule', 'the rule'),
  user: Type.Object({ id: id('user', 'the publisher'), name: Type.String() }),
  appId: id('app', 'the application'),
  plugin: nullable(ownPlugin, { description: 'the one plugin that the jobs may publish' }),
  guestId: nullable(id('guest', 'the one guest under which the jobs may publish'), {
    description: 'the one guest under which the jobs may publish plugins of any name',
  }),
  ...ruleFields,
  createdAt: timestamp('when it was created'),
  lastUsedAt: nullable(timestamp('when a token was last issued by it')),
});
export type TrustRule = Static<typeof trustRule>;

/** Either `plugin` or `guestId` is required. */
export const trustRuleInput = Type.Object({
  plugin: Type.Optional(ownPlugin),
  guestId: Type.Optional(id('guest', 'the guest, for plugins of any name')),
  provider: ruleFields.provider,
  issuer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'default: that of github.com or gitlab.com, for `github` and `gitlab`; required otherwise',
    }),
  ),
  claims: ruleFields.claims,
});
export type TrustRuleInput = Static<typeof trustRuleInput>;
