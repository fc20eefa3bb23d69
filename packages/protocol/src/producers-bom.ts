/** What a module says about the languages, tools, and SDKs that made it. */
export interface ProducersList {
  readonly name: string;
  readonly values: readonly { readonly name: string; readonly version: string }[];
}

/** The module that a bill of materials is about. */
export interface BomSubject {
  readonly name: string;
  readonly version?: string | undefined;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** The property that says where a bill of materials comes from. */
export const bomSourceProperty = 'tenon:source';

/**
 * A CycloneDX document with what the `producers` section of a module says. It lists how the module was made, and declares its parts as
 * unknown: the section doesn't name the libraries that are linked into a module.
 * https://cyclonedx.org/docs/1.6/json/
 */
export function bomOfProducers({ name, version, sha256 }: BomSubject, producers: readonly ProducersList[]) {
  const reference = `sha256:${sha256}`;
  const components = new Map(
    producers
      .flatMap(({ name: field, values }) => values.map((value) => componentOf(field, value)))
      .map((component) => [JSON.stringify(component), component]),
  );
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'post-build' }],
      component: {
        type: 'application',
        'bom-ref': reference,
        name,
        ...(version === undefined ? {} : { version }),
        hashes: [{ alg: 'SHA-256', content: sha256 }],
      },
      properties: [{ name: bomSourceProperty, value: 'producers' }],
    },
    compositions: [{ aggregate: 'unknown', assemblies: [reference] }],
    formulation: [{ components: [...components.values()] }],
  };
}

function componentOf(field: string, { name, version }: ProducersList['values'][number]) {
  return {
    type: field === 'language' ? 'platform' : 'application',
    name,
    ...(version === '' ? {} : { version }),
    properties: [{ name: 'tenon:producers-field', value: field }],
  };
}
