/**
 * DynamoDB on demand in us-east-1, in USD for a million units, as public copies of the price pages gave them at that time;
 * not checked against a bill. README's table of costs uses the same, and a test holds them together.
 */
export const PRICES = { at: 'November 2026', region: 'us-east-1', writes: 0.625, reads: 0.125 } as const;

/** USD for a million times these units. */
export const usdOfMillion = (spent: { readonly writes: number; readonly reads: number }): number =>
  spent.writes * PRICES.writes + spent.reads * PRICES.reads;
