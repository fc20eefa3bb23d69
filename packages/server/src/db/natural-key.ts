/**
 * Returns a text whose code-unit order is the order in which people sort the originals: `customer-2` before `Customer-10`.
 *
 * Each number is preceded by its count of digits, in base 9: 9 stands for nine digits and a further digit of the count.
 */
export function naturalKey(text: string): string {
  return text.toLowerCase().replace(/[0-9]+/g, (digits) => {
    const number = digits.replace(/^0+(?=.)/, '');
    return '9'.repeat(Math.floor(number.length / 9)) + (number.length % 9) + number;
  });
}
