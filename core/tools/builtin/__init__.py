"""The built-in tools: a file each with its description in a `.md` beside it, and a line here."""

BUILTIN: tuple[str, ...] = (
    "core.tools.builtin.read_file:ReadFileTool",
    "core.tools.builtin.read_many_files:ReadManyFilesTool",
    "core.tools.builtin.list_directory:ListDirectoryTool",
    "core.tools.builtin.glob:GlobTool",
    "core.tools.builtin.search_file_content:SearchFileContentTool",
    "core.tools.builtin.replace:ReplaceTool",
    "core.tools.builtin.smart_edit:SmartEditTool",
    "core.tools.builtin.write_file:WriteFileTool",
    "core.tools.builtin.run_shell_command:RunShellCommandTool",
    "core.tools.builtin.list_background_processes:ListBackgroundProcessesTool",
    "core.tools.builtin.read_background_output:ReadBackgroundOutputTool",
    "core.tools.builtin.stop_background_process:StopBackgroundProcessTool",
    "core.tools.builtin.web_fetch:WebFetchTool",
    "core.tools.builtin.google_web_search:WebSearchTool",
    "core.tools.builtin.save_memory:SaveMemoryTool",
    "core.tools.builtin.write_todos:WriteTodosTool",
    "core.tools.builtin.ask_user:AskUserTool",
    "core.tools.builtin.enter_plan_mode:EnterPlanModeTool",
    "core.tools.builtin.exit_plan_mode:ExitPlanModeTool",
    "core.tools.builtin.task:TaskTool",
)
