/** Kinds of records that the rules use. */
export type Mark = "diabetes" | "heart-failure" | "insulin";

interface MarkedCode {
	readonly system: string;
	readonly code: string;
	readonly kind: string;
	readonly name: string | null;
}

/** The marks of a code, given the PheCodes it maps to. */
export function marksOf(code: MarkedCode, phecodes: readonly string[]): Mark[] {
	const phecodesOfCode = code.system === "PheCode" ? [code.code] : phecodes;
	const integers = phecodesOfCode.map((phecode) => phecode.replace(/\..*/, ""));
	const marks: Mark[] = [];
	if (integers.includes("250")) marks.push("diabetes");
	if (integers.includes("428")) marks.push("heart-failure");
	if (code.kind === "drug" && isInsulin(code)) marks.push("insulin");
	return marks;
}

/** RxNorm ingredients: insulin and its analogues. */
const insulinIngredients = new Set([
	"5856", // insulin
	"253182", // insulin, regular, human
	"274783", // insulin glargine
	"51428", // insulin aspart
	"86009", // insulin lispro
	"139825", // insulin detemir
	"400008", // insulin glulisine
	"1670007", // insulin degludec
	"1605101", // insulin isophane
]);

const insulinNames =
	/\b(insulins?|humulin|novolin|humalog|novolog|novorapid|lantus|levemir|toujeo|tresiba|basaglar|apidra|fiasp|admelog|semglee)\b/i;
const notADrug = /\b(syringes?|syrs?|needles?|pumps?|infusion sets?|insulin-like)\b/i;
/** Drug names end with the dose form: "… 100 UNT/ML Prefilled Syringe". */
const filled = /\bpre[- ]?filled\b/i;

/** Recognised by ATC group A10A, by RxNorm ingredient, or by name. */
function isInsulin({ system, code, name }: MarkedCode): boolean {
	if (system === "ATC") return /^A10A/i.test(code);
	if (system === "RxNorm" && insulinIngredients.has(code)) return true;
	const text = `${name ?? ""} ${/^[\d.-]+$/.test(code) ? "" : code}`;
	return insulinNames.test(text) && (filled.test(text) || !notADrug.test(text));
}

/** Six months, for the insulin label. */
export const insulinDays = 183;
/** Maximum distance of the two records in the heart failure rule. */
export const heartFailureDays = 365;

/** The rule of each labelled task, in words. */
export const labelRules = {
	insulin: `insulin prescribed within ${insulinDays} days of the first record of PheCode 250, the day of that record included; history up to that record`,
	chf: `two records of PheCode 428 on different days within ${heartFailureDays} days; history before the day of the first, or for others before their last day`,
} as const;

/** Tasks with the paper's construction, by the name of their labels in the files of a dataset. */
const paperTasks: Readonly<Record<string, string>> = { chf: "chf-paper" };

/** Whether a task has the paper's construction. */
export const isPaperTask = (task: string): boolean => Object.values(paperTasks).includes(task);

/** The task of labels, given their name in the files of a dataset. */
export const taskOfLabels = (name: string): string => paperTasks[name] ?? name;

/** The name of a task's labels in the files of a dataset. */
export const labelsOfTask = (task: string): string =>
	Object.entries(paperTasks).find(([, name]) => name === task)?.[0] ?? task;

/** Whether a text can name a task: names become those of files, and keys of objects. */
export const isTaskName = (text: string): boolean =>
	/^[A-Za-z][\w-]*$/.test(text) && !(text in Object.prototype);

/** What `isTaskName` expects. */
export const taskNameRule =
	"letters, digits, - and _, beginning with a letter, and no word of JavaScript such as constructor";

/** Tasks that need no labels, and the paper's, whose labels have another name: no label can have these names. */
export const reservedTasks: readonly string[] = [
	"onset",
	"next",
	"forecast",
	"futures",
	"chf-paper",
];
