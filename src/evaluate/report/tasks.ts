/** The title and question of a task. */
export interface TaskInWords {
	readonly title: string;
	readonly question: string;
}

const known: Readonly<Record<string, TaskInWords>> = {
	onset: {
		title: "First records",
		question: "Who gets a first record of a condition, and by when?",
	},
	next: { title: "The next record", question: "Which code is recorded next, given its time?" },
	forecast: {
		title: "Records far ahead",
		question: "Which codes are recorded at later dates, given only the beginning of a history?",
	},
	futures: {
		title: "Whole futures",
		question: "Do whole futures look like what happened?",
	},
	insulin: {
		title: "Insulin",
		question: "Does insulin start within six months of the first diabetes record?",
	},
	chf: {
		title: "Heart failure",
		question: "Is heart failure recorded for the first time within three years of an index day?",
	},
	diabetes: {
		title: "Diabetes",
		question: "Is diabetes recorded for the first time within three years of an index day?",
	},
	"chf-paper": {
		title: "Heart failure, as in the paper",
		question: "Is heart failure recorded next? (The days are chosen by the outcome.)",
	},
};

export const taskOf = (task: string): TaskInWords =>
	known[task] ?? { title: task, question: `Is the label “${task}” true?` };

/** Tasks in the order of the report; others follow. */
export const inOrder = <T extends { readonly task: string }>(evaluations: readonly T[]): T[] => {
	const order = Object.keys(known);
	const placeOf = ({ task }: T) => (known[task] ? order.indexOf(task) : order.length);
	return evaluations.toSorted((a, b) => placeOf(a) - placeOf(b));
};
