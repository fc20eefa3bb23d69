import { addFault, type Check, isIdentifier, notIdentifier, shown } from './check.ts';
import type { SchemaPath } from './path.ts';
import { referencedName, resolveType, variantValues } from './types.ts';
import { isRecord, type Plain } from './value.ts';

/**
 * Checks a union: each variant is a component with fields, of which one, the discriminator, is required and an enum of values that no
 * other variant has.
 */
export function checkUnion(check: Check, value: Plain, path: SchemaPath | undefined): void {
  const variants = value.oneOf;
  if (!Array.isArray(variants)) return;
  const at: SchemaPath = { parent: path, key: 'oneOf' };
  if (variants.length === 0) addFault(check, at, 'expected at least one reference');
  const field = discriminatorOf(check, value, path);
  const known = new Map<string, string>();
  for (const [key, variant] of variants.entries()) {
    const inner = { parent: at, key };
    const name = referencedName(variant, check.components);
    if (name === undefined) {
      // A faulty reference is reported already.
      if (!isRecord(variant) || variant.$ref === undefined)
        addFault(check, inner, 'a variant is a "$ref" to a component');
    } else if (field !== undefined) checkVariant(check, { name, variant, field, known }, inner);
  }
}

function discriminatorOf(check: Check, value: Plain, path: SchemaPath | undefined): string | undefined {
  if (value.discriminator === undefined) {
    const detail = '"oneOf" needs "discriminator": { propertyName: <the field that tells the variants apart> }';
    addFault(check, { parent: path, key: 'oneOf' }, detail, 'key');
  }
  const propertyName = isRecord(value.discriminator) ? value.discriminator.propertyName : undefined;
  if (typeof propertyName !== 'string') return undefined;
  if (isIdentifier(propertyName)) return propertyName;
  const inner = { parent: { parent: path, key: 'discriminator' }, key: 'propertyName' };
  addFault(check, inner, notIdentifier(propertyName));
  return undefined;
}

interface VariantToCheck {
  readonly name: string;
  readonly variant: unknown;
  readonly field: string;
  /** The component of each value, so far. */
  readonly known: Map<string, string>;
}

function checkVariant(check: Check, { name, variant, field, known }: VariantToCheck, path: SchemaPath): void {
  const target = resolveType(variant, check.components);
  if (!isRecord(target) || !isRecord(target.properties)) {
    addFault(check, path, `the variant ${shown(name)} must have "properties"`);
    return;
  }
  const values = variantValues(variant, check.components, field);
  const isRequired = Array.isArray(target.required) && target.required.includes(field);
  if (values.length === 0 || !isRequired) {
    addFault(check, path, `the variant ${shown(name)} needs a required field ${shown(field)} with an "enum"`);
    return;
  }
  for (const value of values) {
    const other = known.get(value);
    if (other === undefined) known.set(value, name);
    else
      addFault(check, path, `the variants ${shown(other)} and ${shown(name)} have the same ${field} ${shown(value)}`);
  }
}
