import type { Static } from 'typebox';
import { noProvenancePolicy, provenancePolicy, provenancePolicyInput } from './attestations.ts';
import { displayName, id, nullable, timestamp } from './fields.ts';
import { rollOutPlan, rollOutPlanExample } from './roll-out.ts';
import { Type } from './type.ts';
import { wasmProposals } from './wasm-proposals.ts';

/**
 * An extension point's schema. In responses, `exports` is a map keyed by export name. Requests may also have a list of names, or of objects
 * with a `name`. Everything else is stored unchanged.
 */
export const extensionPointSchema = Type.Object(
  { exports: Type.Record(Type.String(), Type.Unknown(), { description: "a plugin's exports by name" }) },
  { additionalProperties: true },
);

const bounds = {
  maxModuleBytes: nullable(Type.Integer({ minimum: 8 }), {
    description: "the maximum size of a module in bytes; `null` for the server's limit",
  }),
  maxInitialMemoryPages: nullable(Type.Integer({ minimum: 0 }), {
    description: 'the maximum initial size of its memories, in pages of 64 KiB; `null` for no limit',
  }),
  proposals: nullable(
    Type.Array(Type.Enum([...wasmProposals]), { maxItems: wasmProposals.length, uniqueItems: true }),
    {
      description: 'the allowed WebAssembly proposals, beyond the first version; `null` for all',
    },
  ),
  allowWasi: Type.Boolean({ description: 'whether it may import WASI preview 1' }),
};

/** The limits of an extension point on modules, besides the exports and imports of the schema. */
export const extensionPointLimits = Type.Object(bounds);
export type ExtensionPointLimits = Static<typeof extensionPointLimits>;

/** A state of an extension point, which a server attests. */
const importedState = Type.Object(
  {
    extensionPointId: id('extensionPoint', 'the extension point at the other server'),
    changedAt: timestamp('when it last changed there'),
  },
  { additionalProperties: false },
);

export const extensionPoint = Type.Object({
  id: id('extensionPoint', 'the extension point'),
  appId: id('app', 'the application that owns it'),
  name: Type.String(),
  schema: extensionPointSchema,
  requiresApproval: Type.Boolean({
    description: "whether a new version is bound only after the application's team approves it",
  }),
  minVersionAgeSeconds: Type.Integer({
    description: 'how old a new version is before it is bound automatically; 0 for no minimum',
  }),
  limits: extensionPointLimits,
  provenance: provenancePolicy,
  rollOut: nullable(rollOutPlan, {
    description: 'how new versions reach the guests; `null`: all at once. Guests see `null`',
  }),
  imports: Type.Array(importedState, {
    description: 'the newest state of each extension point that was imported from a bundle; guests see none',
  }),
  createdAt: timestamp('when it was created'),
  updatedAt: timestamp('when it last changed'),
});
export type ExtensionPoint = Static<typeof extensionPoint>;

/** A part of a schema that is ignored, or read in another way than it is written. */
export const schemaWarning = Type.Object({
  pointer: Type.String({ description: 'a JSON Pointer such as `/schema/exports/greet/inputs`' }),
  detail: Type.String({ description: 'a description for people' }),
  line: nullable(Type.Integer(), { description: 'the line in the text, from 1; `null` for an object' }),
  column: nullable(Type.Integer(), { description: 'the column in the text, from 1; `null` for an object' }),
});
export type SchemaWarning = Static<typeof schemaWarning>;

export const schemaWarnings = Type.Array(schemaWarning, {
  description: 'parts of the given schema that are ignored or read in another way; 20 at most',
});

/** The response to a request that creates or changes an extension point. */
export const savedExtensionPoint = Type.Intersect([extensionPoint, Type.Object({ warnings: schemaWarnings })]);

/** An entry of the list of an application's extension points. */
export const listedExtensionPoint = Type.Intersect([
  extensionPoint,
  Type.Object({
    ownPlugins: Type.Integer({ description: 'how many plugins the requesting user has published for it' }),
  }),
]);
export type ListedExtensionPoint = Static<typeof listedExtensionPoint>;

/** For the OpenAPI description. */
export const extensionPointExample = {
  id: 'ext_01j29hxk3mfpq8ad68ha6hbsex',
  appId: 'app_01j29hxk3mfpq8ad68ha6hbsex',
  name: 'Formula functions',
  schema: { exports: { evaluate: { input: { type: 'string' }, output: { type: 'number' } } } },
  requiresApproval: true,
  minVersionAgeSeconds: 86_400,
  limits: { maxModuleBytes: 1_048_576, maxInitialMemoryPages: 64, proposals: null, allowWasi: false },
  provenance: noProvenancePolicy,
  rollOut: rollOutPlanExample,
  imports: [],
  createdAt: '2026-03-01T12:00:00.000Z',
  updatedAt: '2026-03-01T12:00:00.000Z',
} satisfies ExtensionPoint;

/** The longest minimum age of new versions: 90 days. */
export const maxVersionAgeSeconds = 90 * 24 * 60 * 60;

const schemaInput = Type.Union([Type.Object({}, { additionalProperties: true }), Type.String()], {
  description: 'an object, or its YAML or JSON text',
});

export const extensionPointInput = Type.Object({
  name: displayName('shown to members and guests'),
  schema: Type.Optional(schemaInput),
  requiresApproval: Type.Optional(
    Type.Boolean({ description: "whether a new version waits for the team's approval; default `false`" }),
  ),
  minVersionAgeSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxVersionAgeSeconds,
      description: 'how old a new version is before it is bound automatically; at most 90 days, default 0',
    }),
  ),
  // Rejects unknown properties: a misspelt limit would silently have no effect.
  limits: Type.Optional(Type.Partial(extensionPointLimits, { additionalProperties: false })),
  provenance: Type.Optional(provenancePolicyInput),
  rollOut: Type.Optional(
    nullable(rollOutPlan, {
      description: 'how new versions reach the guests; `null`, the default: all at once',
    }),
  ),
});
export type ExtensionPointInput = Static<typeof extensionPointInput>;

/** A `PUT` that leaves a field out keeps that field's value. */
export const extensionPointUpdate = Type.Partial(
  Type.Object({
    ...extensionPointInput.properties,
    imported: Type.Optional(
      Type.Object(importedState.properties, {
        additionalProperties: false,
        description: 'the state that is being imported from a bundle; 409 if a newer one was imported',
      }),
    ),
  }),
);
export type ExtensionPointUpdate = Static<typeof extensionPointUpdate>;
