import { cruiseRepository } from './cruise-repository.ts';
import { RULES } from './rules.ts';

const { violations, modules } = await cruiseRepository(process.cwd());
for (const { rule, from, to } of violations) {
  console.log(`${from}${to === from ? '' : ` → ${to}`}\n  ${rule}: ${RULES[rule]}`);
}
if (violations.length > 0) process.exitCode = 1;
else console.log(`${modules.length} modules keep to the rules`);
