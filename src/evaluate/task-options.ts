import { InputError } from "../base/errors.js";
import type { Dataset } from "../data/cohort/index.js";
import { labelOracles } from "./labelled/oracle.js";
import { isOnsetTask } from "./labelled/task-labels.js";
import type { EvaluateOptions } from "./options.js";
import { isLabelledTask, knownTasks } from "./tasks.js";

interface Use {
	/** The tasks that use an option, in words. */
	readonly tasks: string;
	isBy(task: string, dataset: Dataset): boolean;
}

const ofIndexDays: Use = {
	tasks: "onset, and by futures where observation times are known",
	isBy: (task, { manifest: { observation } }) =>
		task === "onset" ||
		(task === "futures" && observation !== undefined && observation.from !== "records"),
};

const ofOutcomes: Use = {
	tasks: "onset and tasks with labels",
	isBy: (task) => task === "onset" || isLabelledTask(task),
};

/** Options that only some tasks use; all others have an effect on every task. */
const uses = {
	index: ofIndexDays,
	horizons: { tasks: "onset", isBy: (task) => task === "onset" },
	lookBackDays: ofIndexDays,
	lookup: { tasks: "forecast", isBy: (task) => task === "forecast" },
	methods: { tasks: "forecast", isBy: (task) => task === "forecast" },
	shots: { tasks: "tasks with labels", isBy: isLabelledTask },
	code: ofOutcomes,
	regressionPatients: ofOutcomes,
	futures: {
		tasks: "onset, forecast, chf and diabetes",
		isBy: (task, dataset) => task === "onset" || task === "forecast" || isOnsetTask(dataset, task),
	},
	oracle: {
		tasks: `onset, next, forecast, chf, diabetes, ${Object.keys(labelOracles).join(" and ")}`,
		isBy: (task, dataset) =>
			["onset", "next", "forecast"].includes(task) ||
			isOnsetTask(dataset, task) ||
			Object.hasOwn(labelOracles, task),
	},
} as const satisfies Partial<Record<keyof EvaluateOptions, Use>>;

/** Refuses options that have no effect on a task. `given` are names of options; those of every task may be among them. */
export function checkTaskOptions(task: string, dataset: Dataset, given: readonly string[]): void {
	// Unknown tasks are refused when they are opened.
	if (!knownTasks(dataset).includes(task)) return;
	for (const [option, { tasks, isBy }] of Object.entries<Use>(uses))
		if (given.includes(option) && !isBy(task, dataset))
			throw new InputError(
				`\`${option}\` has no effect on task ${task}: it is used by ${tasks}; leave it out, or choose another \`task\``,
				{ field: option },
			);
}
